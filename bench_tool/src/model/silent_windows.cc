// SPDX-License-Identifier: MIT
#include "model/silent_windows.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// Suite (kNoName: an environment), set-up or tear-down.
using Name = std::pair<NameId, NameId>;

/// The same measures as `like`, and no call.
Sample silent_window(const Sample& like, std::uint32_t context, std::uint64_t pid) {
  Sample none = like;
  none.context = context;
  none.pid = pid;
  none.repetition = 0;
  none.totals = Totals();
  for (Measured Totals::*field :
       {&Totals::entries, &Totals::calls, &Totals::errors, &Totals::kernel_ns, &Totals::bytes_read,
        &Totals::bytes_written, &Totals::bytes_mapped, &Totals::bytes_unmapped, &Totals::descriptors_left,
        &Totals::threads_left, &Totals::children_left, &Totals::mapped_bytes_left, &Totals::late, &Totals::lost}) {
    if ((like.totals.*field).has_value()) none.totals.*field = Measured(0);
  }
  return none;
}

/// The processes that came to the end of their tests.
std::set<ProgramKey> ended_processes(const Dataset& data) {
  std::set<ProgramKey> ended;
  for (const RunFacts& run : data.runs) {
    const ProgramKey key = key_of(data.contexts[run.context], run.pid);
    if (run.mark == RunFacts::Mark::begin) ended.erase(key);
    if (run.mark == RunFacts::Mark::end) ended.insert(key);
  }
  return ended;
}

bool is_counted(const Sample& sample) {
  return sample.totals.calls.has_value() || sample.totals.entries.has_value();
}

}  // namespace

void SuitesThatRan::note(Dataset& data, const Sample& key, bool is_counted) {
  if (data.text(key.kind) != "test" || data.text(key.origin) != schema::kOriginSyscost) return;
  if (key.test != last_test_) {
    const std::string& test = data.text(key.test);
    suite_ = data.names.intern(test.substr(0, test.rfind('.')));
    last_test_ = key.test;
  }
  const ProgramKey process = key_of(data.context(key), key.pid);
  if (last_ == processes_.end() || last_->first != process) last_ = processes_.try_emplace(process).first;
  Tests& tests = last_->second.try_emplace(suite_, Tests{key.context, true}).first->second;
  tests.are_counted = tests.are_counted && is_counted;
}

void SuitesThatRan::add_silent_windows(Dataset& data) const {
  std::map<std::pair<NameId, NameId>, std::map<Name, Sample>> known;  // by program and suite, one of each name
  std::set<std::pair<ProgramKey, Name>> rows;
  std::set<ProgramKey> voids;  // after void counts, perhaps nothing could be counted
  for (const Sample& sample : data.samples) {
    const std::string& kind = data.text(sample.kind);
    const bool is_set_up = kind == "suite" || kind == "environment";
    if (!is_set_up || data.text(sample.origin) != schema::kOriginSyscost) continue;
    const Name name{sample.test, sample.window};
    rows.insert({key_of(data.context(sample), sample.pid), name});
    if (sample.totals_line == 0) continue;
    Sample& like = known[{data.context(sample).program, sample.test}].try_emplace(name, sample).first->second;
    if (!is_counted(like)) like = sample;
    if (!is_counted(sample)) voids.insert(key_of(data.context(sample), sample.pid));
  }
  if (known.empty()) return;
  const std::set<ProgramKey> ended = ended_processes(data);
  const auto add = [&](const ProgramKey& process, NameId suite, const Tests& tests) {
    const auto windows = known.find({data.contexts[tests.context].program, suite});
    if (windows == known.end() || !tests.are_counted) return;
    for (const auto& [name, like] : windows->second) {
      if (rows.insert({process, name}).second) {
        data.samples.push_back(silent_window(like, tests.context, std::get<std::uint64_t>(process)));
      }
    }
  };
  for (const auto& [process, suites] : processes_) {
    if (!ended.contains(process) || voids.contains(process)) continue;
    Tests all = suites.begin()->second;
    for (const auto& [suite, tests] : suites) {
      add(process, suite, tests);
      all.are_counted = all.are_counted && tests.are_counted;
    }
    add(process, kNoName, all);  // environments
  }
}

}  // namespace syscost::bench::model
