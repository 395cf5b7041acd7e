// SPDX-License-Identifier: MIT
#include "model/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/choice.h"
#include "model/dataset.h"
#include "model/programs.h"
#include "model/run_selection.h"
#include "model/site.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// Children are counted with the window that they ran in. Their own rows do not know what was lost there.
void note_losses_around(Dataset& data) {
  // Process, test, repetition; the set-up or tear-down of a suite, else none.
  using Place = std::tuple<std::uint32_t, std::uint64_t, NameId, std::uint32_t, NameId>;
  std::map<Place, const Totals*> windows;
  const auto is_lossy = [](const Totals& totals) { return totals.late.value_or(0) + totals.lost.value_or(0) > 0; };
  for (const Sample& one : data.samples) {
    const std::string& kind = data.text(one.kind);
    const bool is_whole = kind == "test" || kind == "suite" || kind == "environment";
    if (!is_whole || !is_lossy(one.totals) || data.text(one.origin) != schema::kOriginSyscost) continue;
    windows.emplace(Place{one.context, one.pid, one.test, one.repetition, one.window}, &one.totals);
  }
  if (windows.empty()) return;
  for (Sample& one : data.samples) {
    if (data.text(one.kind) != "process") continue;
    const auto found = windows.find({one.context, one.pid, one.test, one.repetition, one.parent});
    if (found != windows.end()) one.around = {found->second->late, found->second->lost};
  }
}

}  // namespace

void Collector::begin_file(const std::string& file, const std::string& only_run) {
  data_.files.push_back(file);
  parser_.begin_file(static_cast<std::uint32_t>(data_.files.size() - 1));
  only_run_ = only_run;
}

std::string Collector::take(const csv::Row& row) {
  bool is_test_row = false;
  if (parser_.repeats_key(row)) {
    if (std::string fault = parser_.parse_record(row, is_test_row); !fault.empty()) return fault;
    if (is_test_row) note_suite(row);
  } else if (row.text(schema::Column::kRecord) == schema::kRecordRun) {
    RunFacts run;
    std::string fault = parser_.parse_run(row, run);
    if (fault.empty()) data_.runs.push_back(run);
    return fault;
  } else {
    key_ = Sample();
    if (std::string fault = parser_.parse_key(row, key_, is_test_row); !fault.empty()) return fault;
    begin_window(key_);
    if (is_test_row) note_suite(row);
  }
  if (row_sample_ == RowStore::kNoSample) return {};
  if (is_test_row) return take_totals(row);
  return options_.keep_rows ? take_call(row) : std::string();
}

/// Decides what becomes of the rows with `key`.
void Collector::begin_window(const Sample& key) {
  row_sample_ = RowStore::kNoSample;
  if (!only_run_.empty() && data_.text(data_.context(key).run_id) != only_run_) return;
  if (is_left_out(key)) return;
  keeps_histogram_ = options_.keep_histograms && (leaves_out_others_ || may_be_meant(data_, key, options_.test_part));
  row_sample_ = sample_of(key);
}

void Collector::note_suite(const csv::Row& row) {
  if (!only_run_.empty() && data_.text(data_.context(key_).run_id) != only_run_) return;
  const bool is_counted =
      !row.text(schema::Column::kTotalCalls).empty() || !row.text(schema::Column::kTotalEntries).empty();
  suites_.note(data_, key_, is_counted);
}

/// True for a window that is not asked for.
bool Collector::is_left_out(const Sample& key) {
  const std::string& kind = data_.text(key.kind);
  if (!options_.keep_intervals && kind == schema::kKindInterval) return true;
  if (!options_.keep_between && kind == schema::kKindBetween) return true;
  if (!options_.tests.is_everything() && !is_chosen(data_, key, options_.tests)) {
    left_out_tests_.insert(key.test);
    return true;
  }
  const bool is_other = leaves_out_others_ && !may_be_meant(data_, key, options_.test_part);
  data_.is_partial = data_.is_partial || is_other;
  return is_other;
}

std::string Collector::take_totals(const csv::Row& row) {
  const auto file = static_cast<std::uint32_t>(data_.files.size() - 1);
  const auto line = static_cast<std::uint32_t>(row.line());
  Sample& sample = data_.samples[row_sample_];
  if (sample.totals_line != 0) {
    duplicates_.add(data_, row_sample_, {file, line}, {sample.totals_file, sample.totals_line});
    return {};
  }
  Totals totals;
  if (std::string fault = parser_.parse_totals(row, totals); !fault.empty()) return fault;
  sample.totals = totals;
  sample.totals_line = line;
  sample.totals_file = file;
  return {};
}

std::string Collector::take_call(const csv::Row& row) {
  SyscallRow parsed;
  parsed.sample = row_sample_;
  parsed.file = static_cast<std::uint32_t>(data_.files.size() - 1);
  parsed.line = static_cast<std::uint32_t>(row.line());
  if (std::string fault = parser_.parse_syscall(row, keeps_histogram_, parsed); !fault.empty()) return fault;
  if (const auto first = data_.rows.append(parsed)) {
    duplicates_.add(data_, row_sample_, {parsed.file, parsed.line}, {first->file, first->line});
  }
  return {};
}

void Collector::take_plain(const PlainRepetition& one) {
  Context context;
  context.run_id = context.started_at = data_.names.intern(one.started_at);
  context.host = data_.names.intern(one.host);
  context.program = data_.names.intern(program_name(one.program));
  context.file = static_cast<std::uint32_t>(data_.files.size() - 1);
  context.is_plain = true;
  if (data_.contexts.empty() || data_.contexts.back() != context) data_.contexts.push_back(context);
  Sample key;
  key.context = static_cast<std::uint32_t>(data_.contexts.size() - 1);
  key.repetition = one.repetition;
  key.pid = context.file;  // unknown; it keeps the processes of several files apart
  key.kind = data_.names.intern("benchmark");
  key.test = data_.names.intern(one.test);
  key.origin = data_.names.intern(schema::kOriginSyscost);  // as linked benchmarks have it, so that the two pair
  if (is_left_out(key)) return;
  Sample& sample = data_.samples[sample_of(key)];
  sample.totals.outcome = data_.names.intern(one.outcome);
  sample.totals.iterations = one.iterations;
  sample.totals.wall_ns = one.wall_ns;
  sample.totals.cpu_ns = one.cpu_ns;
  sample.totals_line = 1;
  sample.totals_file = context.file;
}

Dataset Collector::finish(const std::string& name) {
  data_.name = name;
  select_runs();
  suites_.add_silent_windows(data_);
  data_.index();
  duplicates_.drop_scattered(data_);
  duplicates_.report(data_, problems_);
  note_losses_around(data_);
  if (data_.has_sites) fold_sites(data_, options_.keep_sites);
  tell_programs_apart({&data_});
  for (const NameId test : left_out_tests_) data_.left_out_tests.push_back(data_.text(test));
  return std::move(data_);
}

/// Leaves the samples of the runs that were asked for: of each file the newest one, unless told otherwise.
void Collector::select_runs() {
  if (options_.all_runs) return;
  std::vector<NameId> wanted(data_.files.size());
  if (options_.run_id.empty()) {
    for (std::uint32_t file = 0; file < wanted.size(); ++file) wanted[file] = newest_run(data_, file);
  } else {
    const std::optional<NameId> asked = asked_run(data_, options_.run_id);
    if (!asked && !data_.contexts.empty()) report_unknown_run(data_, options_.run_id, problems_);
    wanted.assign(wanted.size(), asked.value_or(kNoName));
  }
  const auto is_wanted = [&](std::uint32_t file, NameId run) { return wanted[file] == run; };
  std::erase_if(data_.runs, [&](const RunFacts& run) {
    const Context& context = data_.contexts[run.context];
    return !is_wanted(context.file, context.run_id);
  });
  if (const auto moved = keep_runs(data_, is_wanted); !moved.empty()) duplicates_.keep(moved, is_wanted);
}

/// The sample with `wanted`'s key; a new one when it is the first of it.
std::uint32_t Collector::sample_of(const Sample& wanted) {
  const std::uint64_t hash = hash_of(wanted);
  const std::uint32_t known =
      samples_.find(hash, [&](std::uint32_t i) { return is_same_window(data_.samples[i], wanted); });
  if (known != IdIndex::kNone) return known;
  const auto added = static_cast<std::uint32_t>(data_.samples.size());
  Sample& sample = data_.samples.emplace_back(wanted);
  sample.totals = Totals();
  sample.totals_line = 0;
  samples_.insert(hash, added);
  return added;
}

std::uint64_t Collector::hash_of(const Sample& key) const {
  std::uint64_t hash = key.pid;
  const Context& of = data_.context(key);
  for (const std::uint32_t part : {of.run_id, of.host, of.program, of.started_at, key.kind, key.test, key.window,
                                   key.parent, key.origin, key.repetition}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  }
  return hash;
}

/// Processes of one run on several machines, or in several containers, may have the same pid.
bool Collector::is_same_window(const Sample& a, const Sample& b) const {
  const auto key = [&](const Sample& one) {
    const Context& of = data_.context(one);
    return std::tie(of.run_id, of.host, of.program, of.started_at, one.kind, one.test, one.window, one.parent,
                    one.origin, one.repetition, one.pid);
  };
  return key(a) == key(b);
}

void Duplicates::add(const Dataset& data, std::uint32_t sample, Place place, Place first) {
  if (named_.size() < kMostNamed) {
    named_.push_back({sample, place, first});
  } else {
    ++more_[{place.file, data.context(data.samples[sample]).run_id}];
  }
}

void Duplicates::drop_scattered(Dataset& data) {
  const std::vector<std::uint32_t> samples = data.rows.samples_to_check();
  bool has_any = false;
  for (const std::uint32_t sample : samples) {
    std::unordered_map<std::uint64_t, Place> seen;
    const std::vector<SyscallRow> rows = data.rows_of(sample);
    std::vector<SyscallRow> kept;
    for (const SyscallRow& row : rows) {
      const Place place{row.file, row.line};
      const auto [first, is_new] = seen.try_emplace(std::uint64_t{row.syscall} << 32U | row.detail, place);
      if (is_new) {
        kept.push_back(row);
      } else {
        add(data, sample, place, first->second);
      }
    }
    if (kept.size() == rows.size()) continue;
    data.rows.replace(sample, kept);
    has_any = true;
  }
  if (has_any) data.index();
}

void Duplicates::report(const Dataset& data, csv::Problems& problems) {
  std::sort(named_.begin(), named_.end(), [](const Duplicate& a, const Duplicate& b) {
    return std::pair(a.place.file, a.place.line) < std::pair(b.place.file, b.place.line);
  });
  for (const Duplicate& one : named_) {
    problems.add(data.files[one.place.file], one.place.line,
                 fmt::format("the same key as {}:{}; left out, it would count twice", data.files[one.first.file],
                             one.first.line));
  }
  for (const auto& [place, count] : more_) problems.add_unnamed(data.files[place.first], count);
}

}  // namespace syscost::bench::model
