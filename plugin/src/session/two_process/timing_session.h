// SPDX-License-Identifier: MIT
//
// TimingSession: the process that times a framework's repetitions, and writes rows of its times and of the counts that
// the counting process sent. It has no backend, because an open one would disturb the times.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "os/own_calls.h"
#include "session/options/options.h"
#include "session/windows/recorder.h"
#include "syscost/counting.h"

namespace syscost::session {

/// Not thread-safe, but for begin_benchmarks() and end_benchmarks(). In fork children it writes and prints nothing.
/// The functions are those of syscost/counting.h, which states their contracts.
class TimingSession {
 public:
  explicit TimingSession(Options options) : options_(std::move(options)) {}
  TimingSession(const TimingSession&) = delete;
  TimingSession& operator=(const TimingSession&) = delete;

  void start_or_exit(const adapter::Framework& framework);
  bool wants_counts() const { return options_.backend != BackendChoice::none; }
  /// Variables (NAME=VALUE) that tell a counting process with tools the run it belongs to; none without tools. Ends the
  /// program with 2 if the folder for the tools' files cannot be found.
  std::vector<std::string> counting_variables_or_exit() const;
  void set_counted_by_or_exit(const adapter::CountingStart& counted_by, const adapter::Framework& framework);

  void begin_benchmarks();
  void end_benchmarks();
  void write_rows(const std::vector<adapter::TimedRepetition>& repetitions);
  void write_traced(const std::vector<adapter::TracedPass>& passes);

  void note_missing_counts(const Unavailable& what);
  void note_problem(const Unavailable& what);

  /// Writes the rows that still wait. False if the run is not whole.
  bool conclude();

 private:
  void add_repetition(const adapter::TimedRepetition& one);

  Options options_;
  ForkDetector fork_detector_;
  Recorder recorder_;
  csv::RunColumns run_;
  bool is_announced_ = false;
  std::string last_benchmark_;           ///< The last one with rows.
  std::atomic<bool> is_running_{false};  ///< Between begin_benchmarks() and end_benchmarks().
};

}  // namespace syscost::session
