// SPDX-License-Identifier: MIT
//
// Baseline: the counts that the tests of a project are expected to have, as a text file that is committed beside them.
//
// A CSV holds the numbers of one machine on one day, megabytes of it, and each run changes every line. A baseline keeps
// the part that a review can read: a line for each count, sorted, in words that do not change while the counts do not.
// So a change of one test is a diff of the few lines that are its counts. If it is accepted, the lines of all other
// tests stay as they are, byte for byte.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "csv/problems.h"

namespace syscost::bench::model {

/// The file begins with it.
inline constexpr std::string_view kBaselineTitle = "syscost baseline";
/// The outcome of a test that passed in some repetitions and was skipped in others. It has no counts.
inline constexpr const char* kOutcomeVaries = "varies";
/// That of a test that failed in a repetition. It has none, either.
inline constexpr const char* kOutcomeFailed = "failed";
/// In the place of the outcome, where counts were lost or are missing. It has none, either.
inline constexpr const char* kOutcomeLost = "lost";

/// The range of a number over the repetitions of a window.
struct Range {
  double least = 0;
  double middle = 0;
  double most = 0;

  bool is_exact() const { return least == most; }
  bool operator==(const Range&) const = default;
};

/// One number of a window, or of one of its syscalls.
struct BaselineCell {
  std::string syscall;  ///< `write`, `ioctl TCGETS`; empty: of the window as a whole.
  std::string what;     ///< `calls`, `entries`, `per_run`, an errno, `per_run ENOENT`, or a measure (`wall_ns`,
                        ///< `descriptors_left`).
  Range range;

  bool is_time() const { return what.ends_with("_ns"); }
};

struct BaselineWindow {
  std::string program;
  std::string name;     ///< As it is printed, without the program: `Log.Write, loop flush`.
  std::string kind;     ///< One of schema::kKinds.
  std::string outcome;  ///< `passed`, `skipped`, or one of the words above; empty where the kind has none.
  std::size_t n = 0;    ///< Repetitions, over all runs.
  /// Threads other than the one that opened the window made calls, in some repetition. Empty: not known.
  std::optional<bool> has_other_threads;
  std::vector<BaselineCell> cells;
  // If it has calls: what is known beside them.
  bool tells_entries = false;  ///< Entries without a cell are as many as the calls.
  bool tells_errors = true;    ///< An errno without a cell did not occur.
  bool tells_opens = false;    ///< Without a cell, no open was with O_SYNC.

  /// It has calls; else entries, or nothing.
  bool has_calls() const;

  bool is_same_window(const BaselineWindow& other) const {
    return program == other.program && name == other.name && kind == other.kind;
  }
};

struct Baseline {
  /// The parts of the environment that may change counts: backend, kernel release, filter, ...; a value may be empty.
  std::vector<std::pair<std::string, std::string>> surroundings;
  std::size_t runs = 0;
  /// The count that judge/baseline_windows.h makes over `runs`; none if there are fewer than 3 runs.
  std::optional<std::size_t> tests_that_departed;
  std::map<std::string, std::string> classes;  ///< By name of the syscall, without detail: `file;desc`.
  std::vector<BaselineWindow> windows;

  bool has_details() const;
  bool has_times() const;
};

/// The line `measured` of a file's head.
struct BaselineTold {
  bool calls = false;  ///< Some window has them.
  // All windows with calls know them. Windows without calls know no errors.
  bool entries = false;
  bool errors = true;
  bool opens = false;
  bool threads = false;  ///< Some window knows them. Each window that does not says so: a scope of one thread, for one.
};
BaselineTold told_by(const std::vector<BaselineWindow>& windows);

/// Notes, a line each, of what some windows tell and the file leaves out, because others do not: errors, entries,
/// opens.
std::string left_out_text(const std::vector<BaselineWindow>& windows);

/// The lines of one window, without what not all windows of its file tell.
std::string lines_of(const BaselineWindow& window, const BaselineTold& told);

/// The file's text. The order of windows and cells does not depend on the order of measurement.
std::string to_text(Baseline baseline);

/// Reads `text` of the file `name`. If it is no baseline, returns nothing and notes every fault in `problems`.
std::optional<Baseline> parse_baseline(const std::string& name, std::string_view text, csv::Problems& problems);

/// A change of the lines of one window. All other lines stay, because a person who accepts the change of one test does
/// not want to review the rest.
struct BaselineEdit {
  BaselineWindow window;
  bool is_removal = false;
};

/// Why lines of `window` cannot stand beside those that `told` is of; "" if they can.
std::string why_not_beside(const BaselineWindow& window, const BaselineTold& told);

/// `text` is a baseline that parse_baseline() reads, `told` is of its windows. `classes`: those of the new windows.
std::string edited(std::string_view text, const BaselineTold& told, std::vector<BaselineEdit> edits,
                   const std::map<std::string, std::string>& classes);

}  // namespace syscost::bench::model
