// SPDX-License-Identifier: MIT
#include "stats/several_processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "stats/count_policy.h"

namespace syscost::bench::stats {
namespace {

constexpr std::size_t kMostNamedTests = 5;

/// `2 processes, 5..50 getppid`, of the first syscall with a count that varies; "" if none does.
std::string unlike_counts(const CountPolicy& policy, const WindowSummary* window) {
  if (window == nullptr || window->processes < 2) return {};
  const CountPolicy own_policy = rules_of(policy, window, nullptr);
  const auto varies = [&](const SyscallSummary& one) {
    return one.count() && !one.count()->is_exact() && !own_policy.is_volatile(one.name, one.classes);
  };
  const auto found = std::find_if(window->syscalls.begin(), window->syscalls.end(), varies);
  if (found == window->syscalls.end()) return {};
  return fmt::format("{} processes, {}..{} {}", window->processes, found->count()->min, found->count()->max,
                     found->name);
}

std::string named(const std::vector<std::string>& tests) {
  const auto end = tests.begin() + static_cast<std::ptrdiff_t>(std::min(tests.size(), kMostNamedTests));
  return fmt::format("{}{}", fmt::join(tests.begin(), end, ", "), end == tests.end() ? "" : ", ...");
}

std::string number_of(const std::vector<std::string>& tests) {
  return fmt::format("{} test{}", tests.size(), tests.size() == 1 ? "" : "s");
}

std::string unlike_text(const std::vector<std::string>& tests) {
  return fmt::format(
      "{} ran in several processes of one run, with unlike counts: {}. If the processes have other arguments or "
      "variables, a change of one does not show: start each by a name of its own, for example by a link to the program",
      number_of(tests), named(tests));
}

}  // namespace

std::size_t processes_in_a_run(const model::Dataset& data, const model::Group& group) {
  if (!group.is_test(data) && data.text(group.kind) != "benchmark") return 0;
  using Process = std::tuple<model::NameId, model::NameId, std::uint64_t>;  // host, start, process id
  std::map<model::NameId, std::set<Process>> by_run;
  for (const std::uint32_t index : group.samples) {
    const model::Sample& sample = data.samples[index];
    const model::Context& context = data.context(sample);
    if (context.is_plain || data.text(sample.totals.outcome) == "failed") continue;
    by_run[context.run_id].emplace(context.host, context.started_at, sample.pid);
  }
  std::size_t most = 0;
  for (const auto& [run, processes] : by_run) most = std::max(most, processes.size());
  return most;
}

std::vector<std::string> mark_unclear_processes(const CountPolicy& policy, std::string_view old_side,
                                                std::string_view new_side, std::vector<Comparison>& rows) {
  std::vector<std::string> unlike;
  std::vector<std::string> fewer;
  for (Comparison& row : rows) {
    if (!row.is_paired()) continue;
    std::vector<std::string> sides;
    for (const auto& [side, window] : {std::pair(old_side, row.old_window), std::pair(new_side, row.new_window)}) {
      if (const std::string counts = unlike_counts(policy, window); !counts.empty()) {
        sides.push_back(fmt::format("{} in {}", counts, side));
      }
    }
    if (!sides.empty()) unlike.push_back(fmt::format("{} ({})", row.name, fmt::join(sides, "; ")));
    const bool has_fewer = row.new_window->processes != 0 && row.new_window->processes < row.old_window->processes;
    if (has_fewer) {
      fewer.push_back(fmt::format("{} ({} in {}, {} in {})", row.name, row.old_window->processes, old_side,
                                  row.new_window->processes, new_side));
    }
    row.has_unclear_processes = has_fewer || !sides.empty();
  }
  std::vector<std::string> warnings;
  if (!unlike.empty()) warnings.push_back(unlike_text(unlike));
  if (!fewer.empty()) {
    warnings.push_back(
        fmt::format("{} ran in fewer processes of a run than before: {}. Whether one is missing is not known",
                    number_of(fewer), named(fewer)));
  }
  return warnings;
}

std::string unlike_processes(const CountPolicy& policy, const std::vector<WindowSummary>& windows) {
  std::vector<std::string> tests;
  for (const WindowSummary& window : windows) {
    const std::string counts = unlike_counts(policy, &window);
    if (!counts.empty()) tests.push_back(fmt::format("{} ({})", window.name, counts));
  }
  return tests.empty() ? std::string() : unlike_text(tests);
}

namespace {

/// A process of a run.
using Process = std::pair<model::NameId, std::uint64_t>;

Process process_of(const model::Dataset& data, std::uint32_t sample) {
  return {data.context(data.samples[sample]).run_id, data.samples[sample].pid};
}

/// The processes in which the test failed, if it passed in the last one of each run; else none.
std::set<Process> failed_attempts(const model::Dataset& data, const model::Group& group) {
  std::map<model::NameId, Process> last;  // by run; samples are in the order of the file
  std::set<Process> failed;
  for (const std::uint32_t sample : group.samples) {
    const Process process = process_of(data, sample);
    last.insert_or_assign(process.first, process);
    if (data.text(data.samples[sample].totals.outcome) == "failed") failed.insert(process);
  }
  const bool has_failed =
      std::any_of(last.begin(), last.end(), [&](const auto& one) { return failed.contains(one.second); });
  return has_failed ? std::set<Process>() : failed;
}

}  // namespace

bool was_retried(const model::Dataset& data, const model::Group& group) {
  return group.is_test(data) && !failed_attempts(data, group).empty();
}

std::vector<std::string> leave_out_failed_attempts(const model::Dataset& data, std::vector<model::Group>& groups) {
  std::set<std::tuple<model::NameId, model::NameId, Process>> attempts;  // program, test, process
  std::vector<std::string> names;
  for (const model::Group& group : groups) {
    if (!was_retried(data, group)) continue;
    names.push_back(model::display_name(data, group));
    for (const Process& process : failed_attempts(data, group)) {
      attempts.emplace(group.program, group.test, process);
    }
  }
  for (model::Group& group : groups) {
    std::vector<std::uint32_t> left = group.samples;
    std::erase_if(left, [&](std::uint32_t sample) {
      return attempts.contains({group.program, group.test, process_of(data, sample)});
    });
    if (!left.empty()) group.samples = std::move(left);  // a scope may be in a failed attempt only
  }
  return names;
}

}  // namespace syscost::bench::stats
