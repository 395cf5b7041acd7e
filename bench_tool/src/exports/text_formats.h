// SPDX-License-Identifier: MIT
//
// text_formats: a run as text for other programs: a long table for databases, and OpenMetrics for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "otlp/signals.h"

namespace syscost::bench::exports {

/// A run as a table with one number in each line, for databases.
///
/// The CSV that programs write has a row for each syscall with some seventy columns, most of them empty, and lists in
/// some cells. A database that guesses the types of columns guesses wrong there. This table has one column of numbers,
/// each line says what its number is, and no column mixes types: docs/many-machines.md has them.
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

/// A run as text that Prometheus and its tools read.
///
/// Names and labels are those that Prometheus makes of the same metrics when they come by OTLP, so that both ways fill
/// the same series. The format asks that the samples of a metric stand together; so the text of each is kept until the
/// end.
class OpenMetrics {
 public:
  /// The points that follow are of a process with these attributes (otlp::resource_of).
  void begin_process(const otlp::Attributes& resource);
  void add(const otlp::NumberPoint& point);
  void add(const otlp::HistogramPoint& point);

  /// The whole text; it ends with `# EOF`.
  std::string text() const;

 private:
  struct Family {
    std::string type;
    std::string unit;
    std::string help;
    std::string samples;
  };

  /// promtool wants a time on every line, so that a process has the time of its first point.
  void close_info(std::uint64_t time_unix_ns);
  Family& family_of(const otlp::Metric& metric, const char* type);
  std::string labels_of(const otlp::Attributes& attributes) const;

  std::map<std::string, Family> families_;
  std::string process_labels_;  ///< `a="b",c="d"`
  std::string process_info_;
  std::string open_info_;  ///< The line of the process that began last, until its time is known.
};

}  // namespace syscost::bench::exports
