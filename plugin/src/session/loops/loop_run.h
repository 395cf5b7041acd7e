// SPDX-License-Identifier: MIT
//
// LoopRun: the passes of one syscost::loop, in order. Spread: the median of its timed passes, and how far it can be
// trusted.
//
//     calibration   backend detached, until a pass is long enough to time; none if --syscost_cycles gives the calls
//     warm-up       backend detached, not used
//     timed         backend detached; their times are the rows' times
//     counted       backend attached; their counts are the rows' counts, their times are not used
//     traced        backend attached, and tools too (--syscost_profile bpftrace): one pass, to compare their counts
//
// If a tool runs inside this process (--syscost_profile cupti), the traced pass is the only one that is used.
//
// exit() unwinds nothing: if any thread calls it, the loop stays where it is. So the code at the end of the process
// knows the running loop, and finishes it at a moment when the loop is inside its body.
//
// Between passes this thread's calls count nowhere (OwnCalls), so this code may allocate and write. Only the first and
// the last step of next_pass() belong to a pass: reading the clock, or closing and opening the window.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "session/loops/loops.h"
#include "session/windows/backend_holder.h"
#include "session/windows/open_window.h"

namespace syscost::session {

/// The median of a few timed passes, and how far it can be trusted. In the unit of the values.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  /// True: [low, high] holds the median with at least 95 % confidence. False (fewer than 6 values): least and greatest.
  bool is_interval = false;

  /// (high - low) / median; 0 when the median is 0.
  double relative_width() const { return median > 0 ? (high - low) / median : 0; }
  /// A loop is called stable if its passes agree to a tenth.
  bool is_stable() const { return relative_width() <= 0.10; }
};

/// From order statistics, which assume no distribution: P(X <= k) of Binomial(n, 1/2) bounds the error of each side
/// (David and Nagaraja, Order Statistics, 7.1). `values` must not be empty.
Spread spread_of(std::vector<double> values);

/// The judgement of a loop's times: `stable`, `UNSTABLE, 31 % apart`, `TOO SHORT to tell, ...` or `NO BODY, ...`.
/// `spread` holds nanoseconds of one call; a pass has `calls` of them.
std::string verdict_of(const Spread& spread, std::uint64_t calls);

/// How many calls and passes a loop makes.
struct LoopPlan {
  std::uint64_t cycles = 0;  ///< Calls of a pass; 0 = calibrate.
  std::uint64_t warm_ups = 1;
  std::uint64_t repeats = 10;
  std::uint64_t budget_ns = 1'000'000'000;  ///< For all passes, when calibrating.

  static LoopPlan from(const Options& options);
  std::uint64_t passes() const { return warm_ups + 2 * repeats; }
};

class LoopRun {
 public:
  LoopRun(Loops& loops, std::string_view name);
  ~LoopRun();
  LoopRun(const LoopRun&) = delete;
  LoopRun& operator=(const LoopRun&) = delete;

  /// Restores the state before the loop, also in the middle of a pass.
  void leave();

  /// At the end of the process: a running loop writes the rows of its finished passes, and says that it was ended.
  static void end_process(Loops& loops);

  /// The body or another thread opens a scope, which must count as it does without a flag of syscost: attaches the
  /// backend, now or before the next pass. The loop has no times. The caller holds Loops::Running::mutex.
  void stop_timing();

  /// Ends the running pass and begins the next one. Returns the number of calls of the next pass; 0 if there is none.
  std::uint64_t next_pass();

 private:
  enum class Phase { fresh, once, calibration, warm_up, timed, counted, traced, done };
  struct TimedPass {
    std::uint64_t wall_ns = 0;
    Usage before;
    Usage after;
  };

  bool is_timing() const;
  void end_running_pass(std::uint64_t now_ns);
  void end_pass(std::uint64_t now_ns);
  void choose_phase();
  std::uint64_t start_pass();
  void calibrate(std::uint64_t elapsed_ns);
  bool detach_backend();
  void attach_backend();
  void finish();
  std::string abandon_pass();
  void end_traced_pass();
  std::vector<std::string> write_rows();
  std::string line() const;

  Loops& loops_;
  const std::string name_;
  LoopPlan plan_;
  Phase phase_ = Phase::fresh;
  bool is_entered_ = false;           // the session's loops know that this one runs
  bool is_backend_detached_ = false;  // for a timed pass
  bool has_times_ = true;             // false: the backend could not be detached, or had to be attached again
  std::thread::id thread_;            // runs the loop
  std::uint64_t calls_ = 0;           // of the running pass
  std::uint64_t pass_ = 0;            // of the running phase, from 0
  std::uint64_t start_ns_ = 0;        // of the running pass
  std::optional<OwnCalls> own_;       // between passes
  Usage usage_before_;
  WindowBook::Window* window_ = nullptr;  // of the running counted pass
  OpenBackend* opened_ = nullptr;
  std::vector<TimedPass> timed_;
  std::vector<std::shared_ptr<detail::CostData>> counted_;
  bool is_traced_ = false;                    // the traced pass was made
  std::shared_ptr<detail::CostData> traced_;  // our counts in it; null if nothing counted
};

}  // namespace syscost::session
