// SPDX-License-Identifier: MIT
//
// CSV output of bench: plain numbers under names with units, quoted as RFC 4180 asks, lines ended by a line feed like
// the files that bench reads. A number that was not measured is an empty cell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/window_summary.h"

namespace syscost::bench::render {

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
