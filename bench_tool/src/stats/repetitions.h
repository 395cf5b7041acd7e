// SPDX-License-Identifier: MIT
//
// repetitions: turns the numbers of repetitions into one Spread, per iteration if only that can be compared.
//
// Four things are easy to get wrong, so they are decided here, in one place. A missing row means 0 calls only if the
// repetition was counted at all. Counts and times may belong to passes of different lengths. A call made once per run
// of a benchmark's loop is no call of an iteration. A window that runs again in the same process does not leave again
// what the process makes once (LeftByTurn).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::stats {

/// One number over the repetitions of a test.
///
/// One rule for counts and times: the median stands for them. Exact counts either repeat exactly or they do not, and
/// the two want different words: `1024` against `1024 [1024..1026]`. A Spread holds what both need.
struct Spread {
  std::size_t n = 0;
  double median = 0;
  double min = 0;
  double max = 0;

  bool is_exact() const { return min == max; }
};

/// Describes `values`; nullopt if there are none.
std::optional<Spread> spread_of(std::vector<double> values);
/// The same; it sorts them.
std::optional<Spread> spread_in(std::span<double> values);

/// The things that a window left open, by whether its process ran it again.
///
/// A process makes some things once and keeps them: a pool of threads, a log, a library that is loaded at its first
/// use. The first window that needs one leaves it. A process that runs the window once cannot tell it from something
/// that was forgotten. If the process runs the window again, what is made once is not left again.
struct LeftByTurn {
  double again = 0;  ///< The most that a later repetition of a process left.
  double once = 0;   ///< The most that a process's first repetition left more than each later one of that process.
  double unknown =
      0;  ///< The most that the only repetition of a process left, unless the numbers above account for it.

  bool is_nothing() const { return again == 0 && once == 0 && unknown == 0; }
  /// The number that may have been forgotten: all that is not known to be made once.
  double limited() const { return again > unknown ? again : unknown; }
};

/// Describes a number such as Totals::descriptors_left. Repetitions without it are left out.
LeftByTurn left_by_turn(const model::Dataset& data, const model::Group& group, model::Measured model::Totals::*number);

using Numbers = std::optional<Spread>;
using ErrnoNumbers = std::map<std::string, Spread, std::less<>>;

/// The rows of a group's samples, unpacked. They stay where they are as long as this object lives.
class GroupRows {
 public:
  GroupRows(const model::Dataset& data, const model::Group& group) : GroupRows(data.rows, group) {}
  /// Reads other rows of the same samples, for example Dataset::site_rows.
  GroupRows(const model::RowStore& rows, const model::Group& group);

  /// The rows of repetition `i`.
  std::span<const model::SyscallRow> of(std::size_t i) const {
    return {rows_.data() + begins_[i], begins_[i + 1] - begins_[i]};
  }
  std::size_t repetitions() const { return begins_.size() - 1; }

 private:
  std::vector<model::SyscallRow> rows_;
  std::vector<std::size_t> begins_;
};

/// A syscall's rows; by_sample[i] is null if repetition i did not make the call.
struct Series {
  const model::SyscallRow* first = nullptr;
  std::span<const model::SyscallRow*> by_sample;
  bool knows_per_run_calls = false;  ///< Every row tells its per-run calls apart; below, its errors and bytes.
  bool knows_per_run_errors = false;
  bool knows_per_run_bytes = false;
};

/// The series of every syscall that a repetition made.
class SeriesList {
 public:
  /// Points into `rows`.
  explicit SeriesList(const GroupRows& of_group);
  SeriesList(const SeriesList&) = delete;
  SeriesList& operator=(const SeriesList&) = delete;

  std::size_t size() const { return all_.size(); }
  const Series& operator[](std::size_t i) const { return all_[i]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<const model::SyscallRow*> rows_;  ///< The rows of all series, one series after the other.
  std::vector<Series> all_;
};

/// How figures per iteration treat per-run calls.
enum class PerRunCalls {
  left_out,  ///< Where all repetitions tell them apart. Kernel time with them, at the mean of all calls of the syscall.
  spread,    ///< They count as calls of the iterations they happened in.
};

/// Turns per-repetition numbers into Spreads, dividing by iterations where asked. Where times and counts come from
/// passes of different lengths, only figures per iteration can stand side by side, asked or not. Its arguments must
/// outlive it. Not thread-safe.
class RepetitionAggregator {
 public:
  RepetitionAggregator(const model::Dataset& data, const model::Group& group, const GroupRows& rows,
                       bool per_iteration);

  bool is_per_iteration() const { return is_per_iteration_; }

  /// Counts, which belong to the counted pass.
  Numbers counts(model::Measured model::Totals::*field) const { return totals(field, divisors_); }
  /// Counts without the per-run calls (or errors: `per_run_field`) of the series of `all` that tell them apart.
  Numbers counts(model::Measured model::Totals::*field, const SeriesList& all,
                 model::Measured model::SyscallRow::*per_run_field) const;
  /// Times, which belong to the timed one.
  Numbers times(model::Measured model::Totals::*field) const { return totals(field, time_divisors_); }
  /// Either, divided by `divisors`; empty = by nothing.
  Numbers totals(model::Measured model::Totals::*field, const std::vector<double>& divisors) const;
  /// Leaves out the repetitions that do not have the number.
  Numbers where_known(model::Measured model::Totals::*field) const;

  Numbers column(const Series& series, model::Measured model::SyscallRow::*field,
                 PerRunCalls per_run = PerRunCalls::left_out) const;
  /// Calls without the failures that only say "too early" (is_too_early()).
  Numbers timely_calls(const Series& series, PerRunCalls per_run) const;
  /// Returns `field` of the row that repetition `i` has for `series`, per iteration. The row and the value must exist.
  double value(const Series& series, std::size_t i, model::Measured model::SyscallRow::*field,
               PerRunCalls per_run = PerRunCalls::left_out) const;

  /// Counts per errno name; nullopt where some repetition did not measure errors, or not which.
  std::optional<ErrnoNumbers> errnos(const Series& series, PerRunCalls per_run = PerRunCalls::left_out) const;

  /// True where figures are without the per-run calls of `series`.
  bool tells_per_run_calls(const Series& series) const { return is_per_iteration_ && series.knows_per_run_calls; }
  bool tells_per_run_errors(const Series& series) const { return is_per_iteration_ && series.knows_per_run_errors; }
  /// Per-run calls or errors in a run of the loop; the fields of that name only.
  Numbers per_run(const Series& series, model::Measured model::SyscallRow::*field) const;
  ErrnoNumbers per_run_errnos(const Series& series) const;

  Numbers divisors() const { return is_per_iteration_ ? spread_of(divisors_) : Numbers(); }
  /// True when repetition `i` measured a column of the `syscall` rows: the total of its `test` row says so, or a row of
  /// its own. Only then does a missing row mean "not called".
  bool measures(std::size_t i, model::Measured model::SyscallRow::*field) const;

 private:
  /// True when repetition `i`, which has no row of a syscall, did not make it. Its filter may have left it out.
  bool knows_none(std::size_t i, model::Measured model::SyscallRow::*field) const;
  bool knows_errnos(const Series& series) const;
  ErrnoNumbers errno_numbers(const Series& series, model::NameId model::SyscallRow::*list, bool is_per_iteration,
                             model::NameId model::SyscallRow::*less) const;

  const model::Dataset& data_;
  const model::Group& group_;
  const GroupRows& rows_;
  std::vector<double> divisors_;        // of counts
  std::vector<double> time_divisors_;   // of times
  mutable std::vector<double> values_;  ///< The column that is being folded. All columns share it.
  bool is_per_iteration_ = false;
  bool has_several_filters_ = false;
};

/// True for an errno by which a call says that it is to be made again: how often that happens depends on time.
bool is_too_early(std::string_view syscall, std::string_view errno_name);

}  // namespace syscost::bench::stats
