// SPDX-License-Identifier: MIT
#include "model/silent_windows.h"

#include <map>
#include <set>
#include <string>

#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// Kind, test, window.
using Name = std::tuple<NameId, NameId, NameId>;
/// A window in a repetition of a process.
using Key = std::tuple<ProgramKey, Name, std::uint32_t>;

Name name_of(const Sample& sample) {
  return {sample.kind, sample.test, sample.window};
}

bool is_ours(const Dataset& data, const Sample& sample) {
  return data.text(sample.origin) == schema::kOriginSyscost;
}

/// The same measures as `like`, and nothing in them.
Sample without_calls(const Sample& like, std::uint32_t context, std::uint64_t pid, std::uint32_t repetition) {
  Sample none = like;
  none.context = context;
  none.pid = pid;
  none.repetition = repetition;
  none.around = {};
  none.totals = Totals();
  for (Measured Totals::*field :
       {&Totals::entries, &Totals::calls, &Totals::errors, &Totals::kernel_ns, &Totals::bytes_read,
        &Totals::bytes_written, &Totals::bytes_mapped, &Totals::bytes_unmapped, &Totals::descriptors_left,
        &Totals::threads_left, &Totals::children_left, &Totals::mapped_bytes_left, &Totals::late, &Totals::lost}) {
    if ((like.totals.*field).has_value()) none.totals.*field = Measured(0);
  }
  return none;
}

/// What is known of the processes in the runs that were asked for.
struct Processes {
  std::set<ProgramKey> begun;
  std::set<ProgramKey> ended;  ///< All their tests, and what comes after them.
};

Processes processes_of(const Dataset& data) {
  Processes all;
  for (const RunFacts& run : data.runs) {
    const ProgramKey key = key_of(data.contexts[run.context], run.pid);
    if (run.mark == RunFacts::Mark::begin) all.begun.insert(key);
    if (run.mark == RunFacts::Mark::end) all.ended.insert(key);
  }
  return all;
}

/// The windows of these kinds that have rows.
struct Known {
  std::map<NameId, std::map<Name, Sample>> by_program;  ///< One of each name.
  std::set<Key> rows;
  std::set<std::pair<ProgramKey, Name>> in_processes;
  std::set<std::pair<NameId, Name>> repeated;  ///< By program: a process has it in several repetitions.
};

template <class Is>
Known known_of(const Dataset& data, Is is_wanted) {
  Known known;
  for (const Sample& sample : data.samples) {
    if (!is_wanted(data.text(sample.kind)) || !is_ours(data, sample) || sample.totals_line == 0) continue;
    const NameId program = data.context(sample).program;
    const ProgramKey process = key_of(data.context(sample), sample.pid);
    known.by_program[program].try_emplace(name_of(sample), sample);
    known.rows.insert({process, name_of(sample), sample.repetition});
    if (!known.in_processes.insert({process, name_of(sample)}).second)
      known.repeated.insert({program, name_of(sample)});
  }
  return known;
}

/// Those of tests, in the processes that counted children.
void add_children(Dataset& data) {
  const Known children = known_of(data, [](const std::string& kind) { return kind == "process"; });
  if (children.rows.empty()) return;
  std::set<ProgramKey> counted;
  for (const auto& [process, name, repetition] : children.rows) counted.insert(process);
  std::vector<Sample> added;
  for (const Sample& test : data.samples) {
    const ProgramKey process = key_of(data.context(test), test.pid);
    if (data.text(test.kind) != "test" || !is_ours(data, test) || !counted.contains(process)) continue;
    const auto known = children.by_program.find(data.context(test).program);
    if (known == children.by_program.end()) continue;
    for (const auto& [name, like] : known->second) {
      const bool is_its = like.test == test.test && like.parent == test.window;
      if (!is_its || children.rows.contains({process, name, test.repetition})) continue;
      added.push_back(without_calls(like, test.context, test.pid, test.repetition));
    }
  }
  data.samples.insert(data.samples.end(), added.begin(), added.end());
}

}  // namespace

void SuitesThatRan::note(Dataset& data, const Sample& key) {
  if (data.text(key.kind) != "test" || !is_ours(data, key)) return;
  const std::string& test = data.text(key.test);
  const Place place{key.context, key.pid, data.names.intern(test.substr(0, test.find('.'))), key.repetition};
  if (places_.empty() || places_.back() != place) places_.push_back(place);
}

void SuitesThatRan::add_silent_windows(Dataset& data) const {
  add_children(data);
  Known known = known_of(data, [](const std::string& kind) { return kind == "suite" || kind == "environment"; });
  if (known.rows.empty()) return;
  const Processes processes = processes_of(data);
  for (const auto& [context, pid, suite, repetition] : places_) {
    const ProgramKey process = key_of(data.contexts[context], pid);
    const auto windows = known.by_program.find(data.contexts[context].program);
    if (windows == known.by_program.end() || !processes.begun.contains(process)) continue;
    for (const auto& [name, like] : windows->second) {
      const bool is_of_suite = data.text(like.kind) == "suite";
      if (is_of_suite && like.test != suite) continue;
      // After the last test, a process may have ended without it.
      if (data.text(like.window) != "set-up" && !processes.ended.contains(process)) continue;
      // GoogleTest makes environments once, or in each repetition.
      const bool is_repeated = is_of_suite || known.repeated.contains({data.contexts[context].program, name});
      if (!is_repeated && known.in_processes.contains({process, name})) continue;
      const std::uint32_t when = is_repeated ? repetition : 0;
      if (!known.rows.insert({process, name, when}).second) continue;
      data.samples.push_back(without_calls(like, context, pid, when));
    }
  }
}

}  // namespace syscost::bench::model
