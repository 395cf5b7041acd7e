// SPDX-License-Identifier: MIT
//
// Measures: what a budget may limit, as a table: a new measure is one more entry. Amounts are read as people write
// them: `100 ms`, `64 KiB`, `10%`.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/baseline.h"
#include "model/choice.h"
#include "model/dataset.h"
#include "stats/window_summary.h"

namespace syscost::bench::budgets {

// Amounts. Nothing: the text is no such amount.

/// In ns.
std::optional<double> parse_time_ns(std::string_view text);
/// `64 KiB`, `1.5 MiB`, `100 bytes`.
std::optional<double> parse_bytes(std::string_view text);
/// `10%` is 0.1.
std::optional<double> parse_share(std::string_view text);

/// The source of a window's figures: a window of the run, or its lines in the baseline.
struct Subject {
  const stats::WindowSummary* window = nullptr;
  std::optional<double> cpu_ns;  ///< User and system time, the median.
  /// (syscall, percent) -> ns; only for a syscall with enough calls.
  std::map<std::pair<std::string, int>, double> percentiles_ns;
};

/// One figure: of a window, or of one of its syscalls (`of`).
struct Figure {
  std::string of;  ///< The syscall; empty: the window.
  double value = 0;
  std::string_view note = {};  ///< A reader must know it of the value.
};

enum class Unit { count, ns, bytes };

/// The calls of which a measure is a figure.
enum class Calls {
  none,    ///< Something else counts it.
  chosen,  ///< Those that `of` chooses.
  all,
};

/// The value of a measure for several windows together.
enum class Together {
  sum,
  most,     ///< The highest of theirs: a peak.
  nothing,  ///< Percentiles of parts say nothing of the whole.
};

struct Measure {
  std::string_view name;
  Unit unit = Unit::count;
  bool is_count = true;               ///< In every baseline; else only in one with times.
  Together together = Together::sum;  ///< A program's, of its windows'.
  Calls calls = Calls::chosen;
  bool needs_baseline = false;
  bool is_in_baseline = true;
  std::string_view default_of;  ///< The selector without `of`.
  /// Figures of a window; `before` is its counterpart in the baseline, or null. None: not measured.
  std::vector<Figure> (*figures)(const Subject& now, const Subject* before, const model::SyscallChoice& of) = nullptr;

  /// `of` says which syscalls.
  bool has_selector() const { return calls == Calls::chosen; }
};

std::span<const Measure> measures();
const Measure* find_measure(std::string_view name);

/// The measure that a short key of a budget limits: `max_bytes_written`, `leaked_descriptors`; null for another word.
const Measure* measure_of_short_key(std::string_view key);
/// All short keys.
std::vector<std::string> short_keys();

/// Why a word that people often try is no measure: `memory`, `span_count`, ...; "" for other words.
std::string_view refusal_of(std::string_view name);

/// The subject for a window of the run. Percentiles need histograms, so the loader must keep these.
Subject subject_of(const model::Dataset& data, const model::Group& group, const stats::WindowSummary& window,
                   bool has_percentiles);

/// The subject for lines of the baseline.
Subject subject_of(const model::BaselineWindow& lines, const stats::WindowSummary& window);

/// Adds the lines that only a baseline with times has.
void add_times(const Subject& subject, model::BaselineWindow& lines);

/// `12`, `1.30 ms`.
std::string value_text(Unit unit, double value);

}  // namespace syscost::bench::budgets
