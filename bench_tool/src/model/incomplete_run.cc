// SPDX-License-Identifier: MIT
#include "model/incomplete_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "model/programs.h"
#include "os/signals.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// A program that executes another one goes on as the same process: run, host, process id and its start.
using StartKey = std::tuple<NameId, NameId, std::uint64_t, std::string>;

bool has_all_tests(const Dataset& data) {
  return data.left_out_tests.empty() && !data.is_partial;
}

/// A test or a benchmark, by its own row.
bool is_test(const Dataset& data, const Sample& sample) {
  const std::string& kind = data.text(sample.kind);
  return (kind == "test" || kind == "benchmark") && sample.totals_line != 0 &&
         data.text(sample.origin) == schema::kOriginSyscost;
}

/// Traces that a program's tests left in the file.
struct Traces {
  const Sample* last = nullptr;
  bool has_failed = false;
  bool has_passed = false;
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
    const std::string& outcome = data.text(sample.totals.outcome);
    its.has_failed = its.has_failed || outcome == "failed";
    its.has_passed = its.has_passed || (outcome != "failed" && outcome != "skipped");
  }
  return all;
}

bool is_code(std::string_view how) {
  return how.starts_with(schema::kExitCode);
}

/// By a fault of the program itself, not by a signal that another process sent.
bool is_fault(std::string_view how) {
  constexpr std::string_view kBegin = "SIG";
  return how.starts_with(kBegin) && std::any_of(std::begin(kFaultSignals), std::end(kFaultSignals), [&](int signal) {
           return how.substr(kBegin.size()) == ::sigabbrev_np(signal);
         });
}

/// The rows with this mark, by their programs.
std::map<ProgramKey, const RunFacts*> runs_with(const Dataset& data, RunFacts::Mark mark) {
  std::map<ProgramKey, const RunFacts*> all;
  for (const RunFacts& run : data.runs) {
    if (run.mark == mark) all[key_of(data.contexts[run.context], run.pid)] = &run;
  }
  return all;
}

/// The test in which the signal came that ended the process after the end of its tests, if it may have come in one;
/// else
/// "". In the signal handlers of Catch2 and doctest the test fails and all tests end. GoogleTest has none, and says how
/// its tests ended.
std::string test_of_signal(const Dataset& data, const ProgramKey& key) {
  const std::map<ProgramKey, const RunFacts*> ends = runs_with(data, RunFacts::Mark::end);
  const auto end = ends.find(key);
  if (end == ends.end() || !data.text(end->second->outcome).empty() || !has_all_tests(data)) return {};
  const std::map<ProgramKey, Traces> traces = traces_of(data, {key});
  const auto its = traces.find(key);
  const Sample* const last = its != traces.end() ? its->second.last : nullptr;
  return last != nullptr && data.text(last->totals.outcome) == "failed" ? data.text(last->test) : "";
}

}  // namespace

std::vector<Unfinished> unfinished_programs(const Dataset& data) {
  std::map<ProgramKey, const RunFacts*> open;
  std::map<StartKey, const RunFacts*> last_begin;
  for (const RunFacts& run : data.runs) {
    const Context& context = data.contexts[run.context];
    const ProgramKey key = key_of(context, run.pid);
    if (run.mark == RunFacts::Mark::end) open.erase(key);
    if (run.mark != RunFacts::Mark::begin) continue;
    open[key] = &run;
    const std::string_view start = fact_in(data.text(run.surroundings), schema::kFactProcessStart);
    if (!start.empty()) last_begin[{context.run_id, context.host, run.pid, std::string(start)}] = &run;
  }
  const std::map<ProgramKey, const RunFacts*> begins = runs_with(data, RunFacts::Mark::begin);
  const std::map<ProgramKey, const RunFacts*> exits = runs_with(data, RunFacts::Mark::exit);
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
    if (const auto exit = exits.find(key); exit != exits.end()) one.how = data.text(exit->second->outcome);
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
  for (const auto& [key, run] : exits) {
    if (open.count(key) != 0 || is_code(data.text(run->outcome))) continue;
    Unfinished one;
    one.program = data.text(data.contexts[run->context].program);
    one.pid = run->pid;
    one.run_id = data.text(data.contexts[run->context].run_id);
    one.has_finished = begins.count(key) != 0;
    one.has_not_begun = !one.has_finished;
    one.how = data.text(run->outcome);
    if (one.has_finished) one.last = test_of_signal(data, key);
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
  const std::string where = program.has_not_begun     ? " before it reported a test"
                            : !program.last.empty()   ? " in " + program.last + " or after it"
                            : program.has_finished    ? " after its tests ended"
                            : !program.test.empty()   ? " in " + program.test
                            : !program.after.empty()  ? " after " + program.after
                            : !program.is_after_known ? ""
                                                      : " before its first test had a row";
  const std::string_view verb = program.how.empty() || is_fault(program.how) ? " crashed"
                                : is_code(program.how)                       ? " ended"
                                                                             : " was ended";
  const std::string by = program.how.empty() ? "" : (is_code(program.how) ? ", with " : ", by ") + program.how;
  return program.program + std::string(verb) + where + by;
}

std::vector<FailedOutside> failed_outside_of_tests(const Dataset& data) {
  if (!has_all_tests(data)) return {};
  const std::map<ProgramKey, const RunFacts*> ends = runs_with(data, RunFacts::Mark::end);
  const std::map<ProgramKey, const RunFacts*> exits = runs_with(data, RunFacts::Mark::exit);
  std::set<ProgramKey> ended;
  for (const auto& [key, run] : ends) ended.insert(key);
  const std::map<ProgramKey, Traces> traces = traces_of(data, ended);
  std::set<FailedOutside> programs;
  for (const auto& [key, run] : ends) {
    const auto its = traces.find(key);
    if (data.text(run->outcome) == "failed" && (its == traces.end() || !its->second.has_failed)) {
      programs.insert({data.text(std::get<2>(key)), {}, false});
    }
  }
  const std::map<ProgramKey, const RunFacts*> begins = runs_with(data, RunFacts::Mark::begin);
  for (const auto& [key, run] : exits) {
    const std::string& how = data.text(run->outcome);
    if (!is_code(how)) continue;
    const auto its = traces.find(key);
    // A program that skipped all its tests may say so by its exit code.
    if (ends.count(key) != 0 && its != traces.end() && its->second.has_passed && !its->second.has_failed) {
      programs.insert({data.text(std::get<2>(key)), how, false});
    } else if (begins.count(key) == 0) {
      programs.insert({data.text(std::get<2>(key)), how, true});
    }
  }
  return {programs.begin(), programs.end()};
}

std::string text_of(const FailedOutside& program) {
  if (program.how.empty()) {
    return program.program +
           " failed outside of its tests: in the set-up or tear-down of a suite or an environment, or in a listener";
  }
  return program.program + " ended with " + program.how +
         (program.has_not_begun ? " before it reported a test" : " although none of its tests failed");
}

namespace {

constexpr std::string_view kFact = "shard=";
constexpr std::string_view kOf = " of ";
/// A file may claim more; then it has no shard.
constexpr unsigned kMostShards = 100'000;

using Numbers = std::set<unsigned>;  ///< From 1.

std::optional<unsigned> number_in(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 || number > kMostShards) return {};
  return number;
}

/// Number and total of "libc=glibc 2.36;shard=2 of 4".
std::optional<std::pair<unsigned, unsigned>> shard_in(std::string_view facts) {
  while (!facts.empty()) {
    const std::string_view one = facts.substr(0, facts.find(';'));
    facts.remove_prefix(std::min(facts.size(), one.size() + 1));
    const std::size_t of = one.find(kOf);
    if (!one.starts_with(kFact) || of == std::string_view::npos) continue;
    const auto number = number_in(one.substr(kFact.size(), of - kFact.size()));
    const auto total = number_in(one.substr(of + kOf.size()));
    if (number && total && *number <= *total) return std::pair(*number, *total);
  }
  return {};
}

/// The shards that are here, by program and total, then by run.
std::map<std::pair<std::string, unsigned>, std::map<NameId, Numbers>> shards_of(const Dataset& data) {
  std::map<std::pair<std::string, unsigned>, std::map<NameId, Numbers>> all;
  for (const RunFacts& run : data.runs) {
    const Context& context = data.contexts[run.context];
    const auto shard = shard_in(data.text(run.surroundings));
    if (shard) all[{data.text(context.program), shard->second}][context.run_id].insert(shard->first);
  }
  return all;
}

/// "shard 3", "shards 1, 2 and 4"; of many the first.
std::string list_of(const Numbers& numbers) {
  constexpr std::size_t kMostNamed = 12;
  std::string text;
  std::size_t named = 0;
  for (const unsigned number : numbers) {
    const std::size_t left = numbers.size() - named;
    if (named == kMostNamed) return fmt::format("shards {} and {} more", text, left);
    const bool is_last = left == 1;
    text += fmt::format("{}{}", named == 0 ? "" : is_last ? " and " : ", ", number);
    ++named;
  }
  return (numbers.size() == 1 ? "shard " : "shards ") + text;
}

std::string fault_of(const std::string& program, unsigned total, const Numbers& here) {
  Numbers missing;
  for (unsigned number = 1; number <= total; ++number) {
    if (here.count(number) == 0) missing.insert(missing.end(), number);
  }
  return fmt::format("{} of {} of {} {} missing: only {} {} here; bring the CSV of each shard, or run what is missing",
                     list_of(missing), total, program, missing.size() == 1 ? "is" : "are", list_of(here),
                     here.size() == 1 ? "is" : "are");
}

}  // namespace

std::string shards_text(const Dataset& data) {
  std::set<std::pair<unsigned, Numbers>> distinct;
  for (const auto& [key, runs] : shards_of(data)) {
    Numbers here;
    for (const auto& [run, numbers] : runs) here.insert(numbers.begin(), numbers.end());
    distinct.emplace(key.second, here);
  }
  if (distinct.size() != 1) return {};
  const auto& [total, here] = *distinct.begin();
  return here.size() == total ? fmt::format("in {} shards", total) : fmt::format("only {} of {}", list_of(here), total);
}

std::vector<std::string> missing_shards(const Dataset& data, RunsAre runs_are) {
  std::vector<std::string> faults;
  for (const auto& [key, runs] : shards_of(data)) {
    const auto& [program, total] = key;
    Numbers alone;
    for (const auto& [run, numbers] : runs) {
      if (numbers.size() == 1) {
        alone.insert(numbers.begin(), numbers.end());
      } else if (numbers.size() < total) {
        const std::string of_run = runs_are == RunsAre::apart ? fmt::format("run {}: ", data.text(run)) : "";
        faults.push_back(of_run + fault_of(program, total, numbers));
      }
    }
    const bool is_chosen = runs_are == RunsAre::apart || (runs_are == RunsAre::one_file && alone.size() == 1);
    if (!alone.empty() && alone.size() < total && !is_chosen) faults.push_back(fault_of(program, total, alone));
  }
  return faults;
}

}  // namespace syscost::bench::model
