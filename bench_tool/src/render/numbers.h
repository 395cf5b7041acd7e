// SPDX-License-Identifier: MIT
//
// numbers: numbers as text. For people they have three significant digits, a unit, and `n/a` if they were not measured.
// In a CSV they are plain, under names with units, and a number that was not measured is an empty cell.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/window_summary.h"

namespace syscost::bench::render {

inline constexpr const char* kNotMeasured = "n/a";

/// `152 ns`, `1.23 us`, `131 us`, `2.50 s`.
std::string duration(double ns);
std::string duration(const stats::Numbers& numbers);

/// `1024`; with a fraction `0.5` or `1024.25` (at most three decimals).
std::string count(double value);
/// `1024` when all repetitions agree, else `1024 [1024..1026]`: median and range.
std::string count(const stats::Numbers& numbers);
/// `1024 calls`, `1 call`.
std::string calls(const stats::Numbers& numbers);

/// `94.1`; `n/a` when the whole is 0 or either was not measured. No percent sign: columns carry it.
std::string percent(const stats::Numbers& part, const stats::Numbers& whole);

/// `100 bytes`, `1 byte`, `1048576 bytes (1.00 MiB)`.
std::string bytes(double value);

/// How a histogram's bound is written on an axis: `512`, `1K`, `64M`, with K = 1024.
std::string power_of_two(std::uint64_t value);

/// A number for machines: as few digits as say it exactly.
std::string plain(double value);

/// How many times as much: three digits without an exponent: `4089`, `12.7`, `0.002`.
inline std::string ratio(double times) {
  return times >= 100 ? fmt::format("{:.0f}", times) : fmt::format("{:.3g}", times);
}

/// CSV output of bench: quoted as RFC 4180 asks, lines ended by a line feed like the files that bench reads.
class CsvWriter {
 public:
  /// Writes the header.
  explicit CsvWriter(const std::vector<std::string_view>& columns);

  CsvWriter& cell(std::string_view text);
  CsvWriter& number(double value);
  CsvWriter& number(std::optional<double> value);
  void end_row();

  const std::string& text() const { return out_; }

 private:
  void separate();

  std::string out_;
  bool is_first_ = true;
};

/// The median, if there are numbers.
std::optional<double> median(const stats::Numbers& numbers);

}  // namespace syscost::bench::render
