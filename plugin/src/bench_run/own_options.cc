// SPDX-License-Identifier: MIT
#include "bench_run/own_options.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

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

}  // namespace syscost::bench_run
