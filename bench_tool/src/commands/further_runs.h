// SPDX-License-Identifier: MIT
//
// FurtherRuns: runs commands again, each time with a CSV of its own.
//
// The whole command runs, because a test alone or a part of a suite makes other calls than the suite does.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "commands/interleaved_runner.h"

namespace syscost::bench::commands {

class FurtherRuns {
 public:
  /// No run begins that would probably not end within `budget_s`, the first one excepted.
  FurtherRuns(double budget_s, std::size_t most, std::ostream& err);
  /// Why nothing can be run, or "".
  const std::string& fault() const { return folder_.fault(); }

  /// True while there is time for one more round.
  bool may_go_on() const;
  /// One round: runs the command of each of `programs` once, `{program}` in its place, or once for all if the commands
  /// do not hold it. `command_of` chooses the command just before each run, `take` reads its CSV. Returns the error of
  /// the two, or "". `waiting`: tests that wait for it, for the progress line.
  std::string run_round(const std::set<std::string>& programs, std::size_t waiting,
                        const std::function<const std::vector<std::string>&()>& command_of,
                        const std::function<std::string(const std::string& csv)>& take);

  std::size_t rounds() const { return rounds_; }
  double elapsed_s() const;
  /// `5 further runs (12.3 s)`, the time from a second on; `, the budget of 60 s is used`; `, interrupted`; how many
  /// commands ended with a status.
  std::string text() const;
  /// How the last command that wrote a CSV and ended with a status did so, `exit status 8`; "" if none did.
  const std::string& last_status() const { return last_status_; }
  /// The end of what it printed.
  const std::string& last_output() const { return last_output_; }

 private:
  std::string run_once(const std::vector<std::string>& command, std::string& csv);

  double budget_s_;
  std::size_t most_;
  std::ostream& err_;
  MeasurementFolder folder_;
  InterruptRequest interrupt_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t rounds_ = 0;
  std::size_t runs_ = 0;
  std::size_t with_status_ = 0;
  std::string last_status_;
  std::string last_output_;
};

/// Why these programs cannot take the place of `{program}` in the command; "" if it has none or they can.
std::string fault_of_programs(const std::vector<std::string>& command, const std::set<std::string>& programs);

}  // namespace syscost::bench::commands
