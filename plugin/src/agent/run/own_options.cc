// SPDX-License-Identifier: MIT
#include "agent/run/own_options.h"

#include <algorithm>
#include <string_view>

namespace syscost::run {

CommandLine split_command_line(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  CommandLine line;
  for (auto option = arguments.begin(); option != end; ++option) {
    if (*option == "--tests") {
      line.what = What::tests;
    } else if (*option == "--process") {
      line.what = What::process;
    } else {
      line.options.push_back(*option);
    }
  }
  if (end != arguments.end()) line.command.assign(end + 1, arguments.end());
  return line;
}

std::vector<Variable> as_variables(const std::vector<std::string>& options) {
  constexpr std::string_view kPrefix = "syscost_";
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string_view text = options[i];
    text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
    if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
    const std::size_t equals = text.find('=');
    Variable variable{"SYSCOST_", "1"};
    for (const char c : text.substr(0, equals)) {
      variable.name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
    }
    if (equals != std::string_view::npos) {
      variable.value = text.substr(equals + 1);
    } else if (i + 1 < options.size() && !options[i + 1].starts_with("--")) {
      variable.value = options[++i];
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace syscost::run
