// SPDX-License-Identifier: MIT
//
// Benchmarks beside tools (--syscost_profile bpftrace): the run in a process of its own, its traced passes, and the
// reading of what that process sends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/benchmark/counting_run.h"
#include "adapters/benchmark/passes.h"
#include "libc/clock_and_mutex.h"
#include "syscost/syscost.h"

namespace syscost::benchmark_adapter {

/// One pass of each benchmark with tools attached, as long as a counted pass.
///
/// That length is known only after passes have grown until one is long enough, but the tool must be attached before the
/// first call of the pass. So all benchmarks run twice: first to find the length, then again up to that length, with
/// the tool attached before the last pass.
///
/// A tool observes a process, not a thread. With one thread it is armed exactly inside the loop, and disarmed while the
/// loop pauses. With several it is armed from the first thread's start to the last one's end. So its counts include the
/// calls by which Google Benchmark's threads wait for each other, and so do our counts that it is compared with.
class TracedPasses : public Passes {
 public:
  static TracedPasses& instance();

  void loop_started(const LoopStart& loop) override;
  void paused() override;
  void resumed() override;
  void loop_ending() override;
  LoopEnd loop_ended(std::uint64_t iterations) override;

  /// The benchmark at this position is next: for its length, or to be traced.
  void begin_benchmark(std::size_t position, bool is_for_tools);
  void end_benchmark();
  bool has_passes();

  struct Trace {
    bool is_whole = false;  ///< The tools were attached, or that failed: adapter::detach_tools() reports it.
    std::uint64_t iterations = 0;
    std::vector<Cost> costs;
  };
  /// The result of the benchmark that ended last. If it is not whole, its tools have been stopped.
  Trace take();

 private:
  /// A run of the loop, by one or several threads.
  struct Attempt {
    int threads = 1;
    std::uint64_t asked = 0;  // iterations of each thread
    int repeats = 0;          // runs of the same length right before it
    bool is_stopped = false;  // the first of these was long enough
    bool is_traced = false;
    std::vector<bool> has_started;
    int ending = 0;
    int ended = 0;
    std::uint64_t iterations = 0;
    std::int64_t start_ns = 0;
    std::chrono::nanoseconds each{};  // as Passes has them
    std::chrono::nanoseconds each_before = kNoPassBefore;
  };

  void begin_attempt(const LoopStart& loop);
  bool is_long_enough(std::chrono::nanoseconds took) const;
  void open();
  void close();

  libc::Mutex mutex_;
  std::optional<Attempt> attempt_;      // the last one of the running benchmark
  std::vector<std::uint64_t> lengths_;  // by position; 0 = its loop was not seen
  std::size_t position_ = 0;
  bool is_for_tools_ = false;
  bool is_traced_ = false;  // the running benchmark had its traced attempt
  bool is_attached_ = false;
  std::optional<Scope> scope_;  // of the traced attempt; empty while it pauses
  Trace trace_;
};

// The lines that the process which tools observe sends:
//
//     start BACKEND NOTE | unavailable REASON FIX      once
//     name NAME                                        for each benchmark that will run, in order
//     listed
//     running POSITION                                 a benchmark begins, from 0
//     traced ITERATIONS NAME TEXT                      it had a traced pass; TEXT is of adapter::detach_tools()
//     untraced NAME REASON                             it had none

/// Runs the benchmarks that `spec` selects twice, silently: to find the length of a pass, and for the tools. Ends the
/// process.
[[noreturn]] void run_tracing(const std::string& spec);

/// The output of the tools for each benchmark, from the process that they observe. That process runs before the one
/// that counts: if a tool does not work, the program must end before anything else.
class Traces {
 public:
  /// Runs the process. Ends the program if the tools do not work; notes a problem if the process ends early.
  void gather(CountingRequest request);
  /// Call it when the counting backend is known.
  void write() const;

 private:
  struct Trace {
    std::string name;
    std::uint64_t repetition = 0;
    std::uint64_t iterations = 0;
    std::string text;
  };

  void hear(std::string_view line);
  std::uint64_t repetition_of(const std::string& name) const;

  std::vector<Trace> traces_;
  std::vector<std::string> names_;
  std::size_t running_ = 0;
  bool is_listed_ = false;
};

}  // namespace syscost::benchmark_adapter
