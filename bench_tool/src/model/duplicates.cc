// SPDX-License-Identifier: MIT
#include "model/duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace syscost::bench::model {

void Duplicates::add(const Dataset& data, std::uint32_t sample, Place place, Place first) {
  if (named_.size() < kMostNamed) {
    named_.push_back({sample, place, first});
  } else {
    ++more_[{place.file, data.context(data.samples[sample]).run_id}];
  }
}

void Duplicates::absorb(const Duplicates& part, const std::vector<NameId>& names,
                        const std::vector<std::uint32_t>& samples, std::uint32_t file, std::uint32_t lines_before) {
  for (const Duplicate& one : part.named_) {
    named_.push_back(
        {samples[one.sample], {file, one.place.line + lines_before}, {file, one.first.line + lines_before}});
  }
  for (const auto& [place, count] : part.more_) more_[{file, names[place.second]}] += count;
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
