// SPDX-License-Identifier: MIT
#include "commands/run/run_programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "csv/text.h"
#include "os/command_line.h"
#include "os/environment.h"
#include "os/program_files.h"

namespace syscost::bench::commands {

std::string runner_path() {
  const std::filesystem::path bench = own_program_path();
  if (bench.empty()) return {};
  return (bench.parent_path() / SYSCOST_RUN_FROM_BENCH).lexically_normal();
}

std::string no_runner(const std::string& runner, std::string_view command, int error) {
  if (runner.empty()) return fmt::format("{}\n  fix: {}", why_own_program_is_unknown(error), kOwnProgramRemedy);
  const std::string why = fmt::format("{}: {}", runner, std::generic_category().message(error));
  if (error == E2BIG)
    return fmt::format("{}\n  fix: {}", why, csv::printable(how_to_make_room(environment_to_pass_on())));
  return fmt::format("{}\n`{}` needs the whole of syscost. Run ./dev build, or install it (Debian: syscost-tools).",
                     why, command);
}

int run_programs(const cli::Options& options, std::ostream& err) {
  const std::string program = runner_path();
  const auto refuse = [&] {
    err << "bench: " << no_runner(program, "bench run", errno) << '\n';
    return cli::kExitBadInput;
  };
  if (program.empty()) return refuse();
  std::vector<std::string> arguments = {"bench run"};
  arguments.insert(arguments.end(), options.run_arguments.begin(), options.run_arguments.end());
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  const auto live = std::find(arguments.begin(), mark, "--live");
  if (live != mark) {
    arguments.erase(live);
    return run_live(program, std::move(arguments), options);
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  return refuse();
}

}  // namespace syscost::bench::commands
