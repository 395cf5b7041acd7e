// SPDX-License-Identifier: MIT
#include "model/fold_details.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/lists.h"

namespace syscost::bench::model {
namespace {

/// If a number is missing on one side, it is missing in the sum.
constexpr std::array kSums = {&SyscallRow::entries,        &SyscallRow::calls,         &SyscallRow::restarts,
                              &SyscallRow::in_flight,      &SyscallRow::no_return,     &SyscallRow::carried_in,
                              &SyscallRow::denied,         &SyscallRow::errors,        &SyscallRow::per_run_calls,
                              &SyscallRow::per_run_errors, &SyscallRow::latency_count, &SyscallRow::latency_sum_ns};

Measured sum(const Measured& a, const Measured& b) {
  return a.has_value() && b.has_value() ? Measured(*a + *b) : Measured();
}

std::string sum_of_errnos(const std::string& a, const std::string& b) {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  for (const std::string* text : {&a, &b}) {
    const auto list = parse_errnos(*text);
    if (!list.has_value()) continue;
    for (const auto& [name, count] : *list) counts[std::string(name)] += count;
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : " ") + name + ":" + std::to_string(count);
  }
  return text;
}

void add(Dataset& data, const SyscallRow& from, SyscallRow& into) {
  for (Measured SyscallRow::*field : kSums) into.*field = sum(into.*field, from.*field);
  // Empty if nothing was timed. An empty one changes neither the least nor the greatest value.
  if (from.latency_min_ns.has_value()) {
    into.latency_min_ns = Measured(std::min(*from.latency_min_ns, into.latency_min_ns.value_or(*from.latency_min_ns)));
  }
  if (from.latency_max_ns.has_value()) {
    into.latency_max_ns = Measured(std::max(*from.latency_max_ns, into.latency_max_ns.value_or(0)));
  }
  for (NameId SyscallRow::*list : {&SyscallRow::errnos, &SyscallRow::per_run_errnos}) {
    if (from.*list == kNoName) continue;
    into.*list = data.names.intern(sum_of_errnos(data.text(into.*list), data.text(from.*list)));
  }
  if (from.histogram != kNoName) {
    // A list may name a bucket twice.
    const std::string gap = into.histogram == kNoName ? "" : " ";
    into.histogram = data.names.intern(data.text(into.histogram) + gap + data.text(from.histogram));
  }
}

}  // namespace

bool has_details(const Dataset& data) {
  std::vector<SyscallRow> rows;
  for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
    rows.clear();
    data.rows.of(sample, rows);
    if (std::any_of(rows.begin(), rows.end(), [](const SyscallRow& row) { return row.detail != kNoName; })) return true;
  }
  return false;
}

void fold_details(Dataset& data) {
  for (std::uint32_t sample = 0; sample < data.samples.size(); ++sample) {
    const std::vector<SyscallRow> rows = data.rows_of(sample);
    std::map<NameId, std::size_t> first;
    std::vector<SyscallRow> folded;
    for (SyscallRow row : rows) {
      const auto [at, is_new] = first.try_emplace(row.syscall, folded.size());
      row.detail = kNoName;
      if (is_new) {
        folded.push_back(row);
      } else {
        add(data, row, folded[at->second]);
      }
    }
    if (!rows.empty()) data.rows.replace(sample, folded);
  }
  data.index();
}

}  // namespace syscost::bench::model
