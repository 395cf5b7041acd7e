// SPDX-License-Identifier: MIT
#include "session/loops/loop_run.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <utility>

#include "csv/row.h"
#include "os/text.h"
#include "session/process/messages.h"
#include "session/windows/open_window.h"
#include "session/windows/recorder.h"

namespace syscost::session {
namespace {

/// Reading the clock twice takes up to a tenth of a microsecond. That is more than a fiftieth of a shorter pass.
constexpr double kLeastPassNs = 5'000;
/// No call takes less: this is a fraction of a cycle of any processor.
constexpr double kNothingNs = 0.05;

/// bench (stats/significance.cc) has this from Boost.Math, which a program under test must not have to link.
/// How many values may be left out at each end so that the others still hold the median with 95 % confidence; 0 if even
/// all values are too few.
std::size_t values_outside(std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n));
  double below = term;
  std::size_t outside = 0;
  while (below <= 0.025 && outside < n / 2) {
    ++outside;
    term *= static_cast<double>(n - outside + 1) / static_cast<double>(outside);
    below += term;
  }
  return outside;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const std::size_t middle = n / 2;
  Spread spread;
  spread.median = n % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  // The interval runs from the k-th least to the k-th greatest value.
  const std::size_t k = values_outside(n);
  spread.is_interval = k > 0;
  spread.low = values[k > 0 ? k - 1 : 0];
  spread.high = values[k > 0 ? n - k : n - 1];
  return spread;
}

std::string verdict_of(const Spread& spread, std::uint64_t calls) {
  if (spread.median < kNothingNs) return "NO BODY, the compiler removed it (syscost::do_not_optimize)";
  if (spread.median * static_cast<double>(calls) < kLeastPassNs) {
    return "TOO SHORT to tell, more --syscost_cycles would";
  }
  if (spread.is_stable()) return "stable";
  return "UNSTABLE, " + decimal_text(100 * spread.relative_width(), 0) + " % apart";
}

namespace {

/// A shorter pass is too short to calibrate with.
constexpr std::uint64_t kLeastProbeNs = 20'000;
/// The largest --syscost_cycles. If a pass of so many calls still takes no time, the compiler removed the body.
constexpr double kMostCycles = INT_MAX;
/// A loop that will take longer prints a message before it starts.
constexpr std::uint64_t kLongNs = 5'000'000'000;

/// `value` ns with three digits: "0.31 ns", "152 ns", "1.52 us".
std::string format_time(double value) {
  if (value >= 100) return format_ns(static_cast<std::uint64_t>(std::llround(value)));
  return decimal_text(value, value >= 10 ? 1 : 2) + " ns";
}

class BetweenPasses {
 public:
  BetweenPasses(Loops::Running& running, bool is_running) : running_(running), before_(running.is_between_passes) {
    running_.is_between_passes = before_ || is_running;
  }
  ~BetweenPasses() { running_.is_between_passes = before_; }
  BetweenPasses(const BetweenPasses&) = delete;
  BetweenPasses& operator=(const BetweenPasses&) = delete;

 private:
  Loops::Running& running_;
  const bool before_;
};

}  // namespace

LoopPlan LoopPlan::from(const Options& options) {
  LoopPlan plan;
  plan.cycles = options.cycles.value_or(0);
  if (options.quick) {
    plan.repeats = 3;
    plan.budget_ns = 100'000'000;
  }
  plan.repeats = options.repeats.value_or(plan.repeats);
  plan.warm_ups = options.warm_ups.value_or(plan.warm_ups);
  return plan;
}

LoopRun::LoopRun(Loops& loops, std::string_view name)
    : loops_(loops), name_(csv::visible(name)), plan_(LoopPlan::from(loops.options())) {}

LoopRun::~LoopRun() {
  leave();
}

void LoopRun::leave() {
  // A fork child that leaves the loop owns none of this.
  if (loops_.is_fork_child()) return;
  const OwnCalls own(loops_.backend());
  const std::lock_guard guard(loops_.running().mutex);
  if (!is_entered_) return;
  say("loop " + name_ + " was left early, " + abandon_pass());
  finish();
}

/// Abandons the loop, between passes or in the middle of one. Returns how far it came. The test is charged again only
/// after finish().
std::string LoopRun::abandon_pass() {
  if (phase_ == Phase::traced) {
    // Half a pass is not used.
    loops_.close_traced_pass(opened_, std::exchange(window_, nullptr));
  } else if (window_ != nullptr) {
    loops_.close_window(*opened_, std::exchange(window_, nullptr));
  }
  calls_ = 0;
  return "after " + std::to_string(timed_.size()) + " of " + std::to_string(plan_.repeats) + " timed and " +
         std::to_string(counted_.size()) + " counted passes";
}

void LoopRun::end_process(Loops& loops) {
  const Loops::Running& running = loops.running();
  const std::lock_guard guard(loops.running().mutex);
  if (running.loop == nullptr) return;
  LoopRun& loop = *running.loop;
  const std::string what = "loop " + loop.name_ + " was ended by the end of the process, ";
  const std::string fix = "let it run to its end, or leave it by break or return, before exit()";
  if (running.is_between_passes) {
    loop.loops_.note_problem({what + "between two passes: it has no rows", fix});
    return;
  }
  loop.loops_.note_problem({what + loop.abandon_pass(), fix});
  loop.finish();
}

/// True in a pass that counts nothing of its own: all but counted and traced ones.
bool LoopRun::is_timing() const {
  return phase_ == Phase::calibration || phase_ == Phase::warm_up || phase_ == Phase::timed;
}

std::uint64_t LoopRun::next_pass() {
  if (loops_.is_fork_child()) return phase_ == Phase::fresh ? (phase_ = Phase::once, 1) : 0;
  const std::uint64_t now_ns = is_timing() ? monotonic_ns() : 0;
  if (phase_ != Phase::fresh) own_.emplace(loops_.backend());
  std::uint64_t calls = 0;
  {
    const std::lock_guard guard(loops_.running().mutex);
    const BetweenPasses between(loops_.running(), is_entered_);
    if (calls_ > 0) end_running_pass(now_ns);
    if (!has_times_) attach_backend();
    choose_phase();
    calls = start_pass();
  }
  own_.reset();
  return calls;
}

void LoopRun::end_running_pass(std::uint64_t now_ns) {
  if (phase_ == Phase::traced) {
    end_traced_pass();
  } else if (window_ != nullptr) {
    counted_.push_back(loops_.close_window(*opened_, std::exchange(window_, nullptr)));
  } else {
    end_pass(now_ns);
  }
}

/// Notes the times of a pass without the backend that ended at `now_ns`.
void LoopRun::end_pass(std::uint64_t now_ns) {
  const std::uint64_t elapsed_ns = now_ns - start_ns_;
  // A clock that went back says nothing of the pass.
  if (phase_ == Phase::timed && !went_back(elapsed_ns)) timed_.push_back({elapsed_ns, usage_before_, Usage::now()});
  if (phase_ == Phase::calibration) calibrate(went_back(elapsed_ns) ? 0 : elapsed_ns);
}

void LoopRun::end_traced_pass() {
  traced_ = loops_.close_traced_pass(opened_, std::exchange(window_, nullptr));
  is_traced_ = true;
}

/// Computes from one calibration pass the calls of the next one or, if it was long enough, of every later pass.
void LoopRun::calibrate(std::uint64_t elapsed_ns) {
  const std::uint64_t pass_ns = plan_.budget_ns / plan_.passes();
  // The very first call pays for everything that happens once, so it is not typical.
  if (pass_++ == 0) return;
  const double per_call = static_cast<double>(std::max<std::uint64_t>(elapsed_ns, 1)) / static_cast<double>(calls_);
  if (elapsed_ns < std::max(pass_ns / 10, kLeastProbeNs) && static_cast<double>(calls_) < kMostCycles) {
    // Towards a pass of full length, but at most tenfold, because a short pass is inexact.
    const double wanted = static_cast<double>(pass_ns) / per_call;
    calls_ = static_cast<std::uint64_t>(std::min(
        kMostCycles, std::clamp(wanted, 2.0 * static_cast<double>(calls_), 10.0 * static_cast<double>(calls_))));
    return;
  }
  plan_.cycles = static_cast<std::uint64_t>(std::clamp(static_cast<double>(pass_ns) / per_call, 1.0, kMostCycles));
  const double total_ns = per_call * static_cast<double>(plan_.cycles) * static_cast<double>(plan_.passes());
  if (total_ns > static_cast<double>(kLongNs)) {
    say("loop " + name_ + " will take about " + format_ns(static_cast<std::uint64_t>(total_ns)) + ": " +
        std::to_string(plan_.passes()) + " passes; --syscost_quick and --syscost_repeats take fewer");
  }
}

/// Chooses the phase of the next pass.
void LoopRun::choose_phase() {
  switch (phase_) {
    case Phase::fresh:
      if (!loops_.enter(name_, own_)) {
        phase_ = Phase::once;
        return;
      }
      is_entered_ = true;
      loops_.running().loop = this;
      thread_ = std::this_thread::get_id();
      opened_ = loops_.backend();
      has_times_ = detach_backend();
      pass_ = 0;
      calls_ = 1;
      phase_ = plan_.cycles > 0 ? Phase::warm_up : Phase::calibration;
      break;
    case Phase::calibration:
      if (plan_.cycles == 0) return;
      pass_ = 0;
      phase_ = Phase::warm_up;
      break;
    default:
      ++pass_;
  }
  if (phase_ == Phase::warm_up && pass_ == plan_.warm_ups) {
    pass_ = 0;
    phase_ = Phase::timed;
  }
  // A tool that runs inside the process changes it for good: no later pass is free of the tool, so none is timed.
  if (phase_ == Phase::timed &&
      (pass_ == plan_.repeats || (loops_.tools() != nullptr && loops_.tools()->run_inside()))) {
    pass_ = 0;
    attach_backend();
    phase_ = Phase::counted;
  }
  if (phase_ == Phase::counted && (pass_ == plan_.repeats || opened_ == nullptr)) {
    pass_ = 0;
    phase_ = loops_.tools() != nullptr ? Phase::traced : Phase::done;
  }
  if (phase_ == Phase::traced && pass_ > 0) phase_ = Phase::done;
  if (phase_ == Phase::once) phase_ = Phase::done;
}

std::uint64_t LoopRun::start_pass() {
  switch (phase_) {
    case Phase::once:
      calls_ = 0;  // this pass has no result
      return 1;
    case Phase::done:
      calls_ = 0;
      if (is_entered_) finish();
      return 0;
    case Phase::counted:
      calls_ = plan_.cycles;
      window_ = loops_.open_window(*opened_);
      return calls_;
    case Phase::traced:
      calls_ = plan_.cycles;
      if (loops_.open_traced_pass(name_, opened_, window_)) return calls_;
      phase_ = Phase::done;
      return start_pass();
    default:
      if (phase_ != Phase::calibration) calls_ = plan_.cycles;
      usage_before_ = Usage::now();
      // While it is timed, nothing is counted, and the clock is read last.
      if (has_times_) own_.reset();
      start_ns_ = monotonic_ns();
      return calls_;
  }
}

/// False, with a message, if the backend cannot be detached: then the loop has no times.
bool LoopRun::detach_backend() {
  if (opened_ == nullptr) return true;
  Result<void> off = loops_.detach_backend(*opened_);
  is_backend_detached_ = off.ok();
  if (!off.ok()) say("loop " + name_ + " is counted but not timed: " + off.failure().reason);
  return off.ok();
}

void LoopRun::attach_backend() {
  if (!std::exchange(is_backend_detached_, false)) return;
  if (!loops_.attach_backend(*opened_)) opened_ = nullptr;
}

void LoopRun::stop_timing() {
  if (!is_backend_detached_) return;
  if (std::exchange(has_times_, false)) {
    say("loop " + name_ +
        " is counted but not timed: a scope or an assertion of syscost measures while it runs, in its body or on "
        "another thread");
  }
  if (opened_->backend->attaches_on_any_thread() || std::this_thread::get_id() == thread_) attach_backend();
}

/// Ends the loop, at its end or early.
void LoopRun::finish() {
  phase_ = Phase::done;
  is_entered_ = false;
  loops_.running().loop = nullptr;
  attach_backend();
  std::vector<std::string> lines = write_rows();
  if (!timed_.empty() || !counted_.empty()) lines.insert(lines.begin(), line());
  loops_.leave(name_, lines);
}

/// Returns the tools' lines for people about the loop.
std::vector<std::string> LoopRun::write_rows() {
  Capabilities can = opened_ != nullptr ? opened_->capabilities : Capabilities{};
  // The test's tool is still attached, because a scope is open: its cost is in the latencies.
  if (loops_.tools() != nullptr && loops_.tools()->are_attached()) can.latency = false;
  const std::size_t repetitions = std::max(timed_.size(), counted_.size());
  const std::uint64_t first = loops_.take_repetitions(name_, repetitions);
  for (std::size_t i = 0; i < repetitions; ++i) {
    csv::WindowColumns columns;
    columns.kind = "loop";
    columns.window = name_;
    columns.repetition = first + i;
    columns.iterations = plan_.cycles;
    if (has_times_ && i < timed_.size()) {
      columns.wall_ns = timed_[i].wall_ns;
      timed_[i].after.fill(columns, timed_[i].before);
      columns.overhead_estimate_ns = 0;  // nothing was attached
    }
    const std::string detail = with_unkept({}, i < counted_.size() ? counted_[i].get() : nullptr);
    columns.excluded = detail;
    loops_.add_row(columns, i < counted_.size() ? counted_[i].get() : nullptr, can);
  }
  if (!is_traced_) return {};
  csv::WindowColumns columns;
  columns.kind = "loop";
  columns.window = name_;
  columns.repetition = first;
  columns.iterations = plan_.cycles;
  return loops_.tools()->conclude_pass(columns, traced_.get());
}

/// `1 write a call, 152 ns a call [150, 155], 10 passes of 312500 calls: stable`.
std::string LoopRun::line() const {
  std::string text;
  const auto counted = std::find_if(counted_.begin(), counted_.end(), [](const auto& cost) { return cost != nullptr; });
  const std::string calls = std::to_string(plan_.cycles) + (plan_.cycles == 1 ? " call" : " calls");
  if (counted != counted_.end()) text = breakdown_per_call(**counted, plan_.cycles) + ", ";
  if (has_times_ && !timed_.empty()) {
    std::vector<double> times;
    for (const TimedPass& pass : timed_) {
      times.push_back(static_cast<double>(pass.wall_ns) / static_cast<double>(plan_.cycles));
    }
    const Spread spread = spread_of(std::move(times));
    text += format_time(spread.median) + " a call";
    if (timed_.size() < 2) return text + ", one pass of " + calls;
    text += " [" + format_time(spread.low) + ", " + format_time(spread.high) +
            (spread.is_interval ? "], " : "] least and greatest, ");
    text += std::to_string(timed_.size()) + " passes of " + calls + ": ";
    return text + verdict_of(spread, plan_.cycles);
  }
  return text + "no times, " + std::to_string(counted_.size()) + (counted_.size() == 1 ? " pass of " : " passes of ") +
         calls;
}

}  // namespace syscost::session
