// SPDX-License-Identifier: MIT
#include "model/unfinished.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/surroundings.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// Run, host, program, start and process id. Large files are read in parts, each with contexts of its own.
using ProgramKey = std::tuple<NameId, NameId, NameId, NameId, std::uint64_t>;
/// A program that executes another one goes on as the same process: run, host, process id and its start.
using ProcessKey = std::tuple<NameId, NameId, std::uint64_t, std::string>;

ProgramKey key_of(const Context& context, std::uint64_t pid) {
  return {context.run_id, context.host, context.program, context.started_at, pid};
}

bool has_all_tests(const Dataset& data) {
  return data.left_out_tests.empty() && !data.is_partial;
}

/// A test or a benchmark, by its own row.
bool is_test(const Dataset& data, const Sample& sample) {
  const std::string& kind = data.text(sample.kind);
  return (kind == "test" || kind == "benchmark") && sample.totals_line != 0 &&
         data.text(sample.origin) == schema::kOriginSyscost;
}

/// What a program's tests left in the file.
struct Traces {
  const Sample* last = nullptr;
  bool has_failed = false;
};

std::map<ProgramKey, Traces> traces_of(const Dataset& data, const std::set<ProgramKey>& wanted) {
  std::map<ProgramKey, Traces> all;
  if (wanted.empty()) return all;
  const auto place = [](const Sample& sample) { return std::pair(sample.totals_file, sample.totals_line); };
  for (const Sample& sample : data.samples) {
    if (!is_test(data, sample)) continue;
    const ProgramKey key = key_of(data.context(sample), sample.pid);
    if (wanted.count(key) == 0) continue;
    Traces& its = all[key];
    if (its.last == nullptr || place(*its.last) < place(sample)) its.last = &sample;
    its.has_failed = its.has_failed || data.text(sample.totals.outcome) == "failed";
  }
  return all;
}

}  // namespace

std::vector<Unfinished> unfinished_programs(const Dataset& data) {
  std::map<ProgramKey, const RunFacts*> open;
  std::map<ProcessKey, const RunFacts*> last_begin;
  for (const RunFacts& run : data.runs) {
    const Context& context = data.contexts[run.context];
    const ProgramKey key = key_of(context, run.pid);
    if (run.mark == RunFacts::Mark::end) open.erase(key);
    if (run.mark != RunFacts::Mark::begin) continue;
    open[key] = &run;
    const std::string_view start = fact_in(data.text(run.surroundings), schema::kFactProcessStart);
    if (!start.empty()) last_begin[{context.run_id, context.host, run.pid, std::string(start)}] = &run;
  }
  std::set<ProgramKey> wanted;
  for (const auto& [key, run] : open) wanted.insert(key);
  const std::map<ProgramKey, Traces> traces = traces_of(data, wanted);
  std::vector<std::pair<const RunFacts*, Unfinished>> found;
  for (const auto& [key, run] : open) {
    const Context& context = data.contexts[run->context];
    const auto its = traces.find(key);
    const Sample* const last = its != traces.end() ? its->second.last : nullptr;
    const std::string start(fact_in(data.text(run->surroundings), schema::kFactProcessStart));
    const auto begun = last_begin.find({context.run_id, context.host, run->pid, start});
    const bool has_executed_another = begun != last_begin.end() && begun->second != run;
    if (has_executed_another && last == nullptr) continue;
    Unfinished one;
    one.program = data.text(context.program);
    one.pid = run->pid;
    one.run_id = data.text(context.run_id);
    one.is_after_known = has_all_tests(data);
    one.has_exited = last != nullptr && last->totals.outcome == kNoName && data.text(last->kind) == "test";
    if (one.has_exited) {
      one.test = data.text(last->test);
    } else if (last != nullptr) {
      if (one.is_after_known) one.after = data.text(last->test);
    } else {
      one.test = data.text(run->only_test);
    }
    found.emplace_back(run, std::move(one));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Unfinished> programs;
  for (auto& [run, one] : found) programs.push_back(std::move(one));
  return programs;
}

std::string text_of(const Unfinished& program) {
  if (program.has_exited) {
    return fmt::format("{} ended in {}, by exit() or because main() returned: tests after it did not run",
                       program.program, program.test);
  }
  const std::string where = !program.test.empty()     ? " in " + program.test
                            : !program.after.empty()  ? " after " + program.after
                            : !program.is_after_known ? ""
                                                      : " before its first test had a row";
  return program.program + " crashed" + where;
}

std::vector<std::string> failed_outside_of_tests(const Dataset& data) {
  if (!has_all_tests(data)) return {};
  std::set<ProgramKey> failed;
  for (const RunFacts& run : data.runs) {
    if (run.mark == RunFacts::Mark::end && data.text(run.outcome) == "failed") {
      failed.insert(key_of(data.contexts[run.context], run.pid));
    }
  }
  const std::map<ProgramKey, Traces> traces = traces_of(data, failed);
  std::set<std::string> names;
  for (const ProgramKey& key : failed) {
    const auto its = traces.find(key);
    if (its == traces.end() || !its->second.has_failed) names.insert(data.text(std::get<2>(key)));
  }
  return {names.begin(), names.end()};
}

}  // namespace syscost::bench::model
