// SPDX-License-Identifier: MIT
//
// syscost_shell_files FOLDER: writes the manual pages and the completions of shells, laid out as they are installed
// below share/. The build runs it, so that nothing that --help says is written a second time.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "backends/ebpf/helper/help.h"
#include "command_tree.h"
#include "completions.h"
#include "man_page.h"

namespace syscost::bench::shell {
namespace {

bool write(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) std::fprintf(stderr, "syscost_shell_files: %s cannot be written\n", file.c_str());
  return !stream.fail();
}

bool write_all(const std::filesystem::path& folder) {
  const Command root = command_tree();
  bool is_done = write(folder / "man/man1/bench.1", main_page(root));
  for (const Command* command : leaves(root)) {
    is_done =
        write(folder / "man/man1" / ("bench-" + joined(command->path, "-") + ".1"), command_page(*command)) && is_done;
  }
  is_done = write(folder / "man/man8/syscost-ebpf-helper.8",
                  page_of_help("syscost-ebpf-helper", 8, "holds syscost's BPF programs for measured processes",
                               syscost::ebpf::kHelperHelp)) &&
            is_done;
  for (const Program& program : {bench_program(), test_program()}) {
    const std::string& name = program.name;
    is_done = write(folder / "bash-completion/completions" / name, bash_completion(program)) && is_done;
    is_done = write(folder / "zsh/site-functions" / ("_" + name), zsh_completion(program)) && is_done;
    is_done = write(folder / "fish" / fish_file(program), fish_completion(program)) && is_done;
  }
  return is_done;
}

}  // namespace
}  // namespace syscost::bench::shell

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: syscost_shell_files FOLDER\n", stderr);
    return 2;
  }
  return syscost::bench::shell::write_all(argv[1]) ? 0 : 1;
}
