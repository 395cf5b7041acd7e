// SPDX-License-Identifier: MIT
#include "stats/processes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/run_selection.h"

namespace syscost::bench::stats {
namespace {

/// The processes in which the test failed, if it passed in the last one of each run; else none.
std::set<Process> failed_attempts(const model::Dataset& data, const model::Group& group) {
  struct Last {
    std::string_view start;
    Process process;
  };
  std::map<model::NameId, Last> last;  // by run; of those that started together, the last one of the file
  std::set<Process> failed;
  for (const std::uint32_t sample : group.samples) {
    const Process process = process_of(data, sample);
    const model::Context& context = data.context(data.samples[sample]);
    const std::string_view start = model::sortable_time(data.text(context.started_at));
    Last& its = last[context.run_id];
    if (start >= its.start) its = {start, process};
    if (data.text(data.samples[sample].totals.outcome) == "failed") failed.insert(process);
  }
  const bool has_failed =
      std::any_of(last.begin(), last.end(), [&](const auto& one) { return failed.contains(one.second.process); });
  return has_failed ? std::set<Process>() : failed;
}

}  // namespace

Process process_of(const model::Dataset& data, std::uint32_t sample) {
  const model::Context& context = data.context(data.samples[sample]);
  return {context.run_id, context.host, context.started_at, data.samples[sample].pid};
}

std::size_t processes_in_a_run(const model::Dataset& data, const model::Group& group) {
  if (!group.is_test(data) && data.text(group.kind) != "benchmark") return 0;
  std::map<model::NameId, std::set<Process>> by_run;
  for (const std::uint32_t index : group.samples) {
    const model::Sample& sample = data.samples[index];
    const model::Context& context = data.context(sample);
    if (context.is_plain || data.text(sample.totals.outcome) == "failed") continue;
    by_run[context.run_id].insert(process_of(data, index));
  }
  std::size_t most = 0;
  for (const auto& [run, processes] : by_run) most = std::max(most, processes.size());
  return most;
}

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
