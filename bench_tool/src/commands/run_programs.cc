// SPDX-License-Identifier: MIT
#include "commands/run_programs.h"

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

#include "commands/run_live.h"
#include "csv/printable.h"
#include "os/room_for_arguments.h"

namespace syscost::bench::commands {

std::string runner_path() {
  std::error_code error;
  const std::filesystem::path bench = std::filesystem::read_symlink("/proc/self/exe", error);
  return (bench.parent_path() / SYSCOST_RUN_FROM_BENCH).lexically_normal();
}

int no_runner(std::string_view command, int error, std::ostream& err) {
  if (error == E2BIG) {
    err << fmt::format("bench: {}: {}\n  fix: {}\n", runner_path(), std::generic_category().message(error),
                       csv::printable(how_to_make_room(environ)));
    return cli::kExitBadInput;
  }
  err << fmt::format(
      "bench: {}: {}\n`{}` needs the whole of syscost. Run ./dev build, or install it (Debian: syscost-tools).\n",
      runner_path(), std::generic_category().message(error), command);
  return cli::kExitBadInput;
}

int run_programs(const cli::Options& options, std::ostream& err) {
  const std::string program = runner_path();
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
  return no_runner("bench run", errno, err);
}

}  // namespace syscost::bench::commands
