// SPDX-License-Identifier: MIT
//
// Passes: in the counting process, the syscalls of each run of a benchmark's loop.
//
// Google Benchmark runs a loop on one or several threads, with 1, 10, 100, ... iterations until a run was long enough.
// Each such run is a pass. A thread's window is open from after StartKeepRunning() to before FinishKeepRunning(), and
// closed between PauseTiming() and ResumeTiming(). So syscost counts the code that Google Benchmark times, and no
// window includes Google Benchmark's own clock calls, barriers and threads.
//
// Calls that happen once in a pass (for the first touch of a page, the start of threads) are spread over its
// iterations. So two runs of one program can be compared only if their passes have about the same length. So the length
// must not depend on wall time alone: on a busy machine one iteration may take as long as a thousand elsewhere. The
// counting process requests much more time than a pass takes, which makes Google Benchmark lengthen passes tenfold, and
// stops that itself at 1000 iterations, or if passes become slow. One slow pass may have waited for a processor, so the
// pass before it must be as slow, too. A traced pass has the length of a counted one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/record.h"
#include "libc/clock_and_mutex.h"

namespace syscost::benchmark_adapter {

/// Iterations of a pass, without --syscost_cycles.
constexpr std::uint64_t kPassIterations = 1000;

/// True if passes become slow: one of `iterations`, at least 1, took `took`, and an iteration of the pass before it
/// took `each_before`.
constexpr bool is_slow_pass(std::uint64_t iterations, std::chrono::nanoseconds took,
                            std::chrono::nanoseconds each_before) {
  const std::chrono::nanoseconds slow = std::chrono::milliseconds(iterations < 100 ? 500 : 50);
  constexpr int kNoWait = 10;  // a pass that took so many times as long did not only wait for a processor
  return took >= slow && (each_before >= slow / iterations || took >= kNoWait * slow);
}
/// Of the first pass.
constexpr std::chrono::nanoseconds kNoPassBefore = std::chrono::nanoseconds::max();

class Passes {
 public:
  Passes() = default;
  virtual ~Passes() = default;
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;
  /// The one object of the process.
  static Passes& instance();

  // The hooks call these, on the loop's thread. Virtual, because a shared library has a copy of this class, and its
  // hooks call the program's object.
  virtual void loop_started(const LoopStart& loop);
  virtual void paused();
  virtual void resumed();
  virtual void loop_ending();
  virtual LoopEnd loop_ended(std::uint64_t iterations);

  /// The passes of the benchmark at `position` come next. Its first loop will be announced to the process that times.
  void expect(std::size_t position);
  /// Takes the passes of a benchmark that has ended; `why_not` if they have no counts.
  std::vector<Pass> take(std::optional<Unavailable>& why_not);

  /// The adapter sets this as State's error, to stop longer passes.
  static const char* stop_message();

 private:
  struct Attempt;
  struct Window;
  static thread_local std::unique_ptr<Window> window_;

  void open(Window& window);
  void close(Window& window);
  static bool is_long_enough(const Attempt& attempt, std::chrono::nanoseconds took);

  libc::Mutex mutex_;
  std::optional<std::size_t> unannounced_;
  std::vector<std::shared_ptr<Attempt>> attempts_;
};

}  // namespace syscost::benchmark_adapter
