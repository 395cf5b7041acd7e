// SPDX-License-Identifier: MIT
#include "faults/words.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "faults/contained.h"

namespace syscost::bench::faults {
namespace {

using namespace std::chrono_literals;

}  // namespace

std::string as_own_words(std::string_view output) {
  std::string_view line = output.substr(0, output.find('\n'));
  constexpr std::string_view kProgram = "syscost: ";
  constexpr std::string_view kCalls = "bad value of --filter: ";
  constexpr std::string_view kErrors = "bad value of --inject: ";
  if (line.starts_with(kProgram)) line.remove_prefix(kProgram.size());
  if (line.starts_with(kCalls)) return fmt::format("--calls: {}", line.substr(kCalls.size()));
  if (line.starts_with(kErrors)) {
    // After the semicolon comes the grammar of --inject.
    line = line.substr(kErrors.size());
    std::string text(line.substr(0, line.find(';')));
    constexpr std::string_view kWord = "error=";  // words_fault() has put it there
    if (const std::size_t at = text.find(kWord); at != std::string::npos) text.erase(at, kWord.size());
    return fmt::format("--errnos: {}; `bench faults --errors` prints the usual ones", text);
  }
  return std::string(line);
}

std::string words_fault(const std::string& runner, const PlanOptions& options) {
  ContainedCommand command;
  command.arguments = {runner, "--tests"};
  if (!options.calls.empty()) command.arguments.push_back("--filter=" + options.calls);
  for (const std::string& error : options.errors) {
    if (error != kShort) command.arguments.push_back(fmt::format("--inject=write:error={}", error));
  }
  if (command.arguments.size() == 2) return {};
  // The runner reads its options before it starts this program, which has no tests.
  command.arguments.insert(command.arguments.end(), {"--", "true"});
  command.variables.assign(kUsersSettings.begin(), kUsersSettings.end());
  command.reports_end = true;
  command.folder = WorkingFolder::here;
  command.limit = 30s;
  ContainedRuns runs;
  if (!runs.fault().empty()) return runs.fault();
  runs.start(command);
  std::optional<std::pair<int, ContainedEnd>> ended;
  while (!(ended = runs.wait(1s))) {
  }
  const ContainedEnd& end = ended->second;
  const std::string left = end.left.empty() ? text_of(runs.end()) : end.left;
  if (!left.empty()) return "left behind: " + left;
  if (!end.has_started) return {};  // the sweep says so
  return end.report.refusal.empty() ? end.fault : as_own_words(end.output);
}

}  // namespace syscost::bench::faults
