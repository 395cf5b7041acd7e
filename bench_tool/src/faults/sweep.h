// SPDX-License-Identifier: MIT
//
// Sweep: learns the calls of each test, fails them one by one, and says what the tests made of it.
//
// Each run is a process tree of its own (contained.h). The program is measured by syscost-run with dispatch, so it need
// not be linked with syscost, and the failure is injected in the process: strace is not needed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "faults/contained.h"
#include "faults/learning.h"
#include "faults/outcome.h"
#include "faults/plan.h"
#include "faults/state_file.h"
#include "model/choice.h"

namespace syscost::bench::faults {

struct SweepOptions {
  std::string runner;                  ///< The path of syscost-run.
  std::vector<std::string> command;    ///< A test program with its path, and its arguments.
  std::optional<Framework> framework;  ///< None: what the program says for --help.
  WorkingFolder folder = WorkingFolder::bounded_copy;
  bool has_own_tmp = false;
  std::size_t jobs = 1;
  std::chrono::seconds timeout{10};  ///< A run's; ten times the test's own time if that is more.
  bool has_lines = true;
  model::TestChoice tests;
  PlanOptions plan;
};

struct SweepProgress {
  bool is_learning = false;
  std::size_t done = 0;
  std::size_t all = 0;
  std::size_t bad = 0;  ///< Crashed, hung, leaked, exited or ignored so far.
};

/// Its messages go to the caller; it prints nothing.
class Sweep {
 public:
  /// `is_interrupted` ends the sweep early. `state` has what earlier sweeps did, and gets what this one does.
  Sweep(SweepOptions options, std::function<bool()> is_interrupted, std::function<void(const SweepProgress&)> show,
        StateFile& file, SweepState& state);

  /// Learns, plans and runs. Returns why nothing can be swept, or "". After an interrupt the results are those so far.
  std::string run();

  bool is_interrupted() const { return was_interrupted_; }
  /// All that this sweep did to what is not its own; SweepState::harm has that of earlier ones, too.
  const std::vector<std::string>& harm() const { return harm_; }

 private:
  /// A run to make: its number in the list of tests or failures, and the file of its rows.
  struct Task {
    std::size_t index = 0;
    ContainedCommand command;
    std::string csv;
  };
  /// Runs tasks 0, 1, ... that `make` makes, `jobs` at a time. `take` gets each end.
  std::string run_all(ContainedRuns& runs, std::size_t count, const std::function<Task(std::size_t)>& make,
                      const std::function<std::string(const Task&, ContainedEnd&&)>& take);
  std::string find_framework(ContainedRuns& runs);
  std::string list_tests(ContainedRuns& runs, std::vector<std::string>& names);
  std::string learn(ContainedRuns& runs);
  std::string fail_each(ContainedRuns& runs);
  /// Plans, and runs what is left.
  std::string run_failures(ContainedRuns& runs);
  /// Adds changes that came while no call failed: no failure is the cause. Returns the fault of the state file, or "".
  std::string add_changed_always(const FolderScan& before, const FolderScan& after);
  /// Something that the sweep did to what is not its own. Returns the fault of the state file, or "".
  std::string add_harm(std::vector<std::string> lines);
  /// Adds as harm those that no run has named yet.
  std::string add_left(const std::vector<LeftBehind>& left);
  /// Why no run can be measured, and what to do; empty if `end` does not show that.
  std::string runner_fault(const ContainedEnd& end) const;
  ContainedCommand measured(const std::string& csv, std::vector<std::string> flags, const std::string& selecting) const;
  std::chrono::nanoseconds limit_of(const LearnedTest& test) const;
  std::optional<ContainedEnd> run_one(ContainedRuns& runs, const ContainedCommand& command);

  SweepOptions options_;
  std::function<bool()> interrupted_;
  std::function<void(const SweepProgress&)> show_;
  StateFile& file_;
  SweepState& state_;
  Plan plan_;
  std::vector<std::string> harm_;
  bool was_interrupted_ = false;
};

/// `why`, and what to do if a part of syscost is missing.
std::string without_a_part(const std::string& why);

/// The identity of a sweep: what has to be equal so that it can go on.
SweepIdentity identity_of(const SweepOptions& options);

}  // namespace syscost::bench::faults
