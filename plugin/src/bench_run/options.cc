// SPDX-License-Identifier: MIT
#include "bench_run/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include "agent/common/variables.h"
#include "bench_run/command.h"
#include "os/proc.h"
#include "session/options/option_table.h"

namespace syscost::bench_run {
namespace {

std::string absolute(std::string_view path, const std::string& folder) {
  return path.empty() || path.front() == '/' ? std::string(path) : folder + "/" + std::string(path);
}

/// Programs below may have other working directories, so paths become absolute. The names of scripts (--bpf) may be
/// paths too, but are names first.
std::string in_folder(const session::OptionEntry& option, std::string_view value, const std::string& folder) {
  if (option.kind == session::ValueKind::file || option.kind == session::ValueKind::folder)
    return absolute(value, folder);
  if (option.kind != session::ValueKind::folders) return std::string(value);
  std::string list;
  for (;;) {
    const std::size_t end = std::min(value.find(':'), value.size());
    list += absolute(value.substr(0, end), folder);
    if (end == value.size()) return list;
    list += ':';
    value.remove_prefix(end + 1);
  }
}

}  // namespace

CommandLine split_command_line(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  CommandLine line;
  for (auto option = arguments.begin(); option != end; ++option) {
    if (*option == "--tests") {
      line.what = What::tests;
    } else if (*option == "--process") {
      line.what = What::process;
    } else if (option->starts_with("--report-end=")) {
      line.end_report = option->substr(option->find('=') + 1);
    } else if (option->starts_with("--interval=")) {
      line.interval = option->substr(option->find('=') + 1);
    } else if (*option == "--interval") {
      line.interval = option + 1 != end ? *++option : "(nothing)";
    } else {
      line.options.push_back(*option);
    }
  }
  if (end != arguments.end()) line.command.assign(end + 1, arguments.end());
  return line;
}

std::optional<std::uint64_t> milliseconds_in(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const double factor = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
  constexpr double kLeast = 100;
  constexpr double kMost = 24.0 * 60 * 60'000;
  const double milliseconds = number * factor;
  if (error != std::errc() || !(milliseconds >= kLeast && milliseconds <= kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(milliseconds);
}

std::vector<Variable> as_variables(const std::vector<std::string>& options, const std::string& folder) {
  constexpr std::string_view kPrefix = "syscost_";
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string_view name = options[i];
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    const std::size_t equals = name.find('=');
    const session::OptionEntry* const option = session::find_option(name.substr(0, equals), true);
    if (option == nullptr) continue;
    std::string value = "1";
    if (equals != std::string_view::npos) {
      value = name.substr(equals + 1);
    } else if (!option->stands_alone() && i + 1 < options.size()) {
      value = options[++i];
    }
    variables.push_back({session::variable_of(*option), in_folder(*option, value, folder)});
  }
  return variables;
}

namespace {

/// AddressSanitizer's library ends a program where another one comes before it. Ours may: it replaces no function that
/// allocates.
void add_asan_order() {
  const char* const asan = getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS",
         (asan != nullptr && *asan != '\0' ? std::string(asan) + ":" + agent::kAsanOrder : agent::kAsanOrder).c_str(),
         1);
}

}  // namespace

std::string working_directory() {
  std::array<char, PATH_MAX> folder{};
  if (getcwd(folder.data(), folder.size()) != nullptr) return folder.data();
  refuse(std::string("the working directory has no path: ") + std::strerror(errno), "change to another one");
}

std::string set_variables(const std::vector<std::string>& options) {
  for (const Variable& variable : as_variables(options, working_directory())) {
    setenv(variable.name.c_str(), variable.value.c_str(), 1);
  }
  const char* const csv = getenv("SYSCOST_CSV");
  if (csv == nullptr || *csv == '\0') return {};
  // Programs below may have another working directory.
  std::string path = *csv != '/' ? working_directory() + "/" + csv : csv;
  setenv("SYSCOST_CSV", path.c_str(), 1);
  return path;
}

void set_run_id() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string id =
      host.data() + namespace_mark() + "-" + std::to_string(getpid()) + "-" + std::to_string(now.tv_sec);
  setenv("SYSCOST_RUN_ID", id.c_str(), 0);
}

bool may_be_preloaded(const std::string& path) {
  if (path.find_first_of(" :") != std::string::npos) return false;
  for (const char* const name : {"$ORIGIN", "${ORIGIN}", "$LIB", "${LIB}", "$PLATFORM", "${PLATFORM}"}) {
    if (path.find(name) != std::string::npos) return false;
  }
  return true;
}

void set_preload(const std::string& folder) {
  const std::string ours = folder + "/libsyscost-preload.so";
  if (!may_be_preloaded(ours)) {
    refuse("syscost lies in " + folder +
               ", and LD_PRELOAD cannot hold a path with a blank, a colon, $ORIGIN, $LIB or $PLATFORM",
           "install it in a folder without them");
  }
  if (access(ours.c_str(), R_OK) != 0) refuse(ours + ": " + std::strerror(errno), "reinstall syscost");
  const char* const theirs = getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", theirs != nullptr && *theirs != '\0' ? (ours + ":" + theirs).c_str() : ours.c_str(), 1);
  setenv(agent::kPreloadVariable, ours.c_str(), 1);
  add_asan_order();
}

void set_command_preload(const std::string& library, const std::string& memory) {
  const char* const theirs = getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", theirs != nullptr && *theirs != '\0' ? (library + ":" + theirs).c_str() : library.c_str(), 1);
  setenv(agent::kCommandVariable, memory.c_str(), 1);
  add_asan_order();
}

void forget_variables() {
  std::vector<std::string> names;
  for (char** one = __environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (text.starts_with("SYSCOST_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace syscost::bench_run
