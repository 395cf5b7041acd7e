// SPDX-License-Identifier: MIT
#include "model/older_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "model/lists.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

/// By syscall and detail.
using Calls = std::map<std::pair<NameId, NameId>, SyscallRow>;

/// The calls of older threads in a run of a program.
struct Sum {
  std::uint32_t sample = 0;  ///< One of its windows.
  bool is_whole = true;      ///< No window lacks its `test` row.
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  Calls calls;
  Calls by_site;
};

bool is_between(const Dataset& data, const Sample& sample) {
  return data.text(sample.kind) == schema::kKindBetween;
}

/// Of these windows none lies in another one.
bool is_disjoint(const Dataset& data, const Sample& sample) {
  static constexpr std::array<std::string_view, 4> kKinds = {"test", "suite", "environment", schema::kKindBetween};
  return data.text(sample.origin) == schema::kOriginSyscost &&
         std::find(kKinds.begin(), kKinds.end(), data.text(sample.kind)) != kKinds.end();
}

/// Takes up to `most` failures out of `row`. No one knows which thread failed, so as many as can be theirs are theirs.
void take_failures(Dataset& data, std::uint64_t most, SyscallRow& row) {
  if (row.errors.value_or(0) == 0) return;
  std::uint64_t taken = 0;
  std::string rest;
  if (const auto errnos = parse_errnos(data.text(row.errnos))) {
    for (const auto& [name, count] : *errnos) {
      const std::uint64_t theirs = std::min(count, most - taken);
      taken += theirs;
      if (count > theirs) rest += fmt::format("{}{}:{}", rest.empty() ? "" : " ", name, count - theirs);
    }
  }
  row.errors = Measured(*row.errors - std::min(*row.errors, taken));
  row.errnos = data.names.intern(rest);
}

/// Takes the calls of older threads out of a row of a window, and returns how many they are.
std::uint64_t take_calls(Dataset& data, SyscallRow& row) {
  const bool sees_entries = row.entries.has_value();
  Measured& counted = sees_entries ? row.entries : row.calls;
  const std::uint64_t older = std::min(row.by_older_threads.value_or(0), counted.value_or(0));
  if (older > 0) {
    counted = Measured(*counted - older);
    if (sees_entries && row.calls.has_value()) row.calls = Measured(std::min(*row.calls, *row.entries));
    take_failures(data, older, row);
  }
  // A call that began before the window: the thread that opened the window has none.
  return older + (sees_entries ? 0 : row.carried_in.value_or(0));
}

/// How many calls of a row of what lies between tests are not by the thread that runs them.
std::uint64_t between_tests(const SyscallRow& row) {
  const std::uint64_t others = row.by_started_threads.value_or(0) + row.by_older_threads.value_or(0);
  return others + (row.entries.has_value() ? 0 : row.carried_in.value_or(0));
}

void add(std::uint64_t more, const SyscallRow& row, Calls& calls) {
  if (more == 0) return;
  SyscallRow& sum = calls[{row.syscall, row.detail}];
  const std::uint64_t all = sum.entries.value_or(0) + more;
  sum.file = row.file;
  sum.line = row.line;
  sum.syscall = row.syscall;
  sum.detail = row.detail;
  sum.classes = row.classes;
  sum.entries = sum.by_older_threads = Measured(all);
  sum.by_started_threads = Measured(0);
}

void lessen(Measured& total, const Measured& before, const Measured& after) {
  const std::uint64_t less = before.value_or(0) - after.value_or(0);
  if (total.has_value()) total = Measured(*total - std::min(*total, less));
}

/// Moves the calls of older threads from the rows of a sample to `calls`. `totals`: those of the rows, or null.
void part_rows(Dataset& data, RowStore& store, std::uint32_t sample, Totals* totals, Calls& calls) {
  std::vector<SyscallRow> rows;
  store.of(sample, rows);
  std::vector<SyscallRow> rest;
  bool has_changed = false;
  for (SyscallRow& row : rows) {
    if (is_between(data, data.samples[sample])) {
      add(between_tests(row), row, calls);
      continue;
    }
    const SyscallRow before = row;
    add(take_calls(data, row), row, calls);
    const bool is_less = before.by_older_threads.value_or(0) > 0;
    has_changed = has_changed || is_less;
    if (totals != nullptr) {
      lessen(totals->entries, before.entries, row.entries);
      lessen(totals->calls, before.calls, row.calls);
      lessen(totals->errors, before.errors, row.errors);
    }
    if (!is_less || row.entries.value_or(0) + row.calls.value_or(0) > 0) rest.push_back(row);
  }
  if (!has_changed) return;
  data.samples[sample].had_older_threads = true;
  store.replace(sample, rest);
}

void append(const Calls& calls, std::uint32_t sample, RowStore& store) {
  for (const auto& [key, one] : calls) {
    SyscallRow row = one;
    row.sample = sample;
    row.file = calls.begin()->second.file;  // a sample's rows are together only if they are of one file
    store.append(row);
  }
}

void add_sample(Dataset& data, const std::string& program, const Sum& sum) {
  const Sample& window = data.samples[sum.sample];
  Sample sample;
  sample.context = window.context;
  sample.pid = window.pid;
  sample.kind = data.names.intern(schema::kKindBetween);
  sample.test = data.names.intern(program + std::string(kOlderThreads));
  sample.origin = window.origin;
  sample.totals_line = sum.is_whole ? window.totals_line : 0;
  sample.totals_file = window.totals_file;
  std::uint64_t entries = 0;
  for (const auto& [key, row] : sum.calls) entries += *row.entries;
  sample.totals.entries = Measured(entries);
  sample.totals.late = Measured(sum.late);
  sample.totals.lost = Measured(sum.lost);
  const auto index = static_cast<std::uint32_t>(data.samples.size());
  data.samples.push_back(sample);
  append(sum.calls, index, data.rows);
  if (data.keeps_sites) append(sum.by_site, index, data.site_rows);
}

}  // namespace

std::map<std::string, bool> tell_older_threads(const Dataset& data) {
  const auto process = [&](std::uint32_t context, std::uint64_t pid) {
    const Context& of = data.contexts[context];
    return std::tuple(of.run_id, of.host, of.started_at, pid);
  };
  std::set<std::tuple<NameId, NameId, NameId, std::uint64_t>> ended;
  for (const RunFacts& run : data.runs) {
    if (run.mark == RunFacts::Mark::end) ended.insert(process(run.context, run.pid));
  }
  for (const Sample& sample : data.samples) {
    if (is_between(data, sample)) ended.insert(process(sample.context, sample.pid));
  }
  std::map<NameId, bool> tells;
  std::vector<SyscallRow> rows;
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    const Sample& sample = data.samples[i];
    if (!is_disjoint(data, sample)) continue;
    bool& is_told = tells.try_emplace(data.context(sample).program, true).first->second;
    if (!is_told) continue;
    rows.clear();
    data.rows.of(i, rows);
    is_told =
        ended.contains(process(sample.context, sample.pid)) &&
        std::all_of(rows.begin(), rows.end(), [](const SyscallRow& row) { return row.by_older_threads.has_value(); });
  }
  std::map<std::string, bool> by_name;
  for (const auto& [program, is_told] : tells) by_name.emplace(data.text(program), is_told);
  return by_name;
}

void part_older_threads(Dataset& data, const std::set<std::string>& programs, bool adds_sums) {
  if (data.has_older_apart) return;
  data.has_older_apart = true;
  std::map<std::tuple<NameId, std::uint32_t, NameId>, Sum> sums;  // of a program, in a file's run
  std::set<NameId> with_calls;
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    Sample& sample = data.samples[i];
    const Context& context = data.context(sample);
    if (!is_disjoint(data, sample) || !programs.contains(data.text(context.program))) continue;
    const auto [found, is_first] = sums.try_emplace({context.program, context.file, context.run_id});
    Sum& sum = found->second;
    if (is_first) sum.sample = i;
    sum.is_whole = sum.is_whole && sample.totals_line != 0;
    sum.late += sample.totals.late.value_or(0);
    sum.lost += sample.totals.lost.value_or(0);
    part_rows(data, data.rows, i, &sample.totals, sum.calls);
    if (data.keeps_sites) part_rows(data, data.site_rows, i, nullptr, sum.by_site);
    if (!sum.calls.empty()) with_calls.insert(context.program);
  }
  for (const auto& [key, sum] : sums) {
    const NameId program = std::get<0>(key);
    if (adds_sums && with_calls.contains(program)) add_sample(data, data.text(program), sum);
  }
  data.index();
  if (data.keeps_sites) data.site_rows.index(data.samples.size());
}

void leave_out_between(const Dataset& data, std::vector<Group>& groups) {
  std::erase_if(groups, [&](const Group& group) {
    return data.text(group.kind) == schema::kKindBetween && group.test == kNoName;
  });
}

}  // namespace syscost::bench::model
