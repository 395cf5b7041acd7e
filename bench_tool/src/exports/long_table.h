// SPDX-License-Identifier: MIT
//
// LongTable: a run as a table with one number in each line, for databases.
//
// The CSV that programs write has a row for each syscall with some seventy columns, most of them empty, and lists in
// some cells. A database that guesses the types of columns guesses wrong there. This table has one column of numbers,
// each line says what its number is, and no column mixes types: docs/many-machines.md has them.
#pragma once

#include <string>

#include "otlp/signals.h"

namespace syscost::bench::exports {

class LongTable {
 public:
  /// Begins with the header.
  LongTable();

  /// The points that follow are of a process with these attributes (otlp::resource_of).
  void begin_process(const otlp::Attributes& resource);
  void add(const otlp::NumberPoint& point);
  /// A line for each bucket that holds calls.
  void add(const otlp::HistogramPoint& point);

  /// The text so far; it is empty afterwards.
  std::string take();

 private:
  void add_line(const otlp::Metric& metric, const otlp::Attributes& attributes, const std::string& upper_ns,
                const std::string& value);

  std::string process_;  ///< The cells of the process.
  std::string out_;
};

}  // namespace syscost::bench::exports
