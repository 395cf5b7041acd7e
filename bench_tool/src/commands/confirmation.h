// SPDX-License-Identifier: MIT
//
// Confirmation: a test that is red in one run but not in the next one was red by chance.
//
// The whole command is run again, because a test alone or a part of a suite makes other calls than the suite does. A
// count stays red only if the same count of the same test grew in every run, and a time only if it regressed in every
// run.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli/options.h"
#include "stats/verdict.h"

namespace syscost::bench::commands {

class Confirmation {
 public:
  /// Suspects what `gate` ends in red.
  Confirmation(const std::vector<stats::Comparison>& rows, const cli::Gate& gate);

  /// Takes the rows of one more run. Returns the reason why the run confirms nothing, or "".
  std::string take(const std::vector<stats::Comparison>& again);

  /// Tests that are still suspected.
  std::size_t suspects() const;
  /// Programs that have one.
  std::set<std::string> programs() const;
  /// Removes the suspicion from changes that did not repeat.
  void apply_to(stats::Comparison& row) const;
  /// `Log.Reads did not repeat: +1 openat; not in run 1 of 2`, a line each.
  std::string text() const;

 private:
  using Cell = std::tuple<std::string, std::string, bool>;  ///< Syscall, errno, is it made per run; or a time.
  struct Suspect {
    std::string name;
    std::string program;
    std::set<Cell> cells;     ///< They grew in all runs so far.
    bool has_counts = false;  ///< Counts are among what was suspected.
    std::string what;
    std::size_t ended_in = 0;  ///< The further run that did not show it; 0: none.
  };
  std::set<Cell> grown_cells(const stats::Comparison& row) const;

  cli::Gate gate_;
  std::map<std::string, Suspect> suspects_;  ///< By program and name.
  std::size_t runs_ = 0;
};

/// The suspicions that further runs confirm or remove.
struct Suspicion {
  std::function<std::size_t()> count;               ///< Tests and budgets that are still suspected.
  std::function<std::set<std::string>()> programs;  ///< Programs that have one.
  /// Takes the CSV of one more run. Returns the reason why the run confirms nothing, or "".
  std::function<std::string(const std::string& csv)> take;
};

/// Runs `command` up to `times` times, each time with a new CSV, as long as something is suspected. If a word of the
/// command holds `{program}`, it is run for each suspected program in turn. Returns the error, or "".
std::string run_again(const std::vector<std::string>& command, std::size_t times, const Suspicion& suspicion,
                      std::ostream& err);

}  // namespace syscost::bench::commands
