// SPDX-License-Identifier: MIT
//
// Passes: in the counting process, what each run of a benchmark's loop asked of the kernel.
//
// Google Benchmark runs a loop on one or several threads, with 1, 10, 100, ... iterations until a run was long enough.
// Each such run is a pass. A thread's window is open from after StartKeepRunning() to before FinishKeepRunning(), and
// closed between PauseTiming() and ResumeTiming(): what is timed is what is counted, and Google Benchmark's own clock
// calls, barriers and threads are in no window.
//
// How long a pass is must not depend on the clock, or the counts of two runs of the program would differ by it. So the
// counting process asks for much more time than a pass takes, which makes Google Benchmark grow tenfold, and ends the
// growth itself, at 1000 iterations or where passes get slow.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/record.h"

namespace syscost::benchmark_adapter {

class Passes {
 public:
  Passes() = default;
  virtual ~Passes() = default;
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;
  /// The process's own.
  static Passes& instance();

  // What the hooks say, each on the thread of `state`. Virtual: the hooks of a shared library, which has a copy of this
  // class, tell the program's.
  virtual void loop_started(::benchmark::State& state);
  virtual void paused();
  virtual void resumed();
  virtual void loop_ending();
  virtual void loop_ended(::benchmark::State& state);

  /// The passes of the benchmark at `position` come next: its first loop is announced to the process that times.
  void expect(std::size_t position);
  /// The passes since the last time, of a benchmark that is done; `why_not` where they are no counts.
  std::vector<Pass> take(std::optional<Unavailable>& why_not);

  /// What the adapter puts into State's error to end the growth.
  static const char* stop_message();

 private:
  struct Attempt;
  struct Window;
  static thread_local std::unique_ptr<Window> window_;

  void open(Window& window);
  void close(Window& window);
  static bool is_long_enough(const Attempt& attempt);

  std::mutex mutex_;
  std::optional<std::size_t> unannounced_;
  std::vector<std::shared_ptr<Attempt>> attempts_;
};

}  // namespace syscost::benchmark_adapter
