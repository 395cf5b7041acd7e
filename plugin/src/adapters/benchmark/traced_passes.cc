// SPDX-License-Identifier: MIT
#include "adapters/benchmark/traced_passes.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "adapters/benchmark/pass_length.h"
#include "libc/clock.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
namespace {

std::int64_t now_ns() {
  return libc::SteadyClock::now().time_since_epoch().count();
}

}  // namespace

TracedPasses& TracedPasses::instance() {
  static auto* const passes = new TracedPasses;
  return *passes;
}

// ---- what the tool and we see ---------------------------------------------------------------------------------------

/// The last thing it does is to arm the tool; no call of ours is between the two.
void TracedPasses::open() {
  scope_.emplace(Reach::process, adapter::OfAdapter{});
  adapter::arm_tools();
}

void TracedPasses::close() {
  adapter::disarm_tools();
  if (!scope_.has_value()) return;
  trace_.costs.push_back(scope_->stop());
  scope_.reset();
  // A loop that pauses a thousand times need not keep a thousand tables.
  if (trace_.costs.size() < 2) return;
  Cost whole = adapter::sum(trace_.costs);
  trace_.costs.clear();
  trace_.costs.push_back(std::move(whole));
}

// ---- benchmarks -----------------------------------------------------------------------------------------------------

void TracedPasses::begin_benchmark(std::size_t position, bool is_for_tools) {
  const std::lock_guard guard(mutex_);
  position_ = position;
  is_for_tools_ = is_for_tools;
  is_traced_ = false;
  attempt_.reset();
  trace_ = Trace();
}

void TracedPasses::end_benchmark() {
  const std::lock_guard guard(mutex_);
  if (!is_for_tools_) {
    lengths_.resize(std::max(lengths_.size(), position_ + 1), 0);
    if (attempt_.has_value()) lengths_[position_] = attempt_->asked;
  }
  close();
  // A loop that was left early: half a pass is none.
  if (!trace_.is_whole && std::exchange(is_attached_, false))
    static_cast<void>(adapter::detach_tools("left early", nullptr));
}

bool TracedPasses::has_passes() {
  const std::lock_guard guard(mutex_);
  return attempt_.has_value();
}

TracedPasses::Trace TracedPasses::take() {
  const std::lock_guard guard(mutex_);
  is_attached_ = false;
  return std::exchange(trace_, Trace());
}

// ---- the hooks ------------------------------------------------------------------------------------------------------

void TracedPasses::begin_attempt(const LoopStart& loop) {
  Attempt next;
  next.threads = loop.threads;
  next.asked = loop.iterations;
  if (attempt_.has_value() && attempt_->asked == next.asked) {
    next.repeats = attempt_->repeats + 1;
    next.is_stopped = attempt_->is_stopped;
  }
  next.has_started.assign(static_cast<std::size_t>(next.threads), false);
  next.start_ns = now_ns();
  const std::uint64_t length = position_ < lengths_.size() ? lengths_[position_] : 0;
  next.is_traced = is_for_tools_ && !is_traced_ && length > 0 && next.asked >= length;
  attempt_ = std::move(next);
}

bool TracedPasses::is_long_enough() const {
  if (is_for_tools_) return is_traced_ || position_ >= lengths_.size() || lengths_[position_] == 0;
  return attempt_->asked >= adapter::wanted_cycles(kPassIterations) ||
         std::chrono::nanoseconds(now_ns() - attempt_->start_ns) >= long_pass(attempt_->asked);
}

void TracedPasses::loop_started(const LoopStart& loop) {
  const auto index = static_cast<std::size_t>(loop.thread);
  const std::lock_guard guard(mutex_);
  // Runs follow each other; this thread starting a second time, or another number of threads, is a new one.
  if (!attempt_.has_value() || attempt_->threads != loop.threads || attempt_->has_started[index] ||
      attempt_->ended == attempt_->threads) {
    begin_attempt(loop);
    if (attempt_->is_traced) {
      is_traced_ = true;
      is_attached_ = true;
      adapter::attach_tools();
      attempt_->has_started[index] = true;
      // The other threads wait for the lock, so that none of them is past its start yet.
      open();
      return;
    }
  }
  attempt_->has_started[index] = true;
}

void TracedPasses::paused() {
  if (attempt_.has_value() && attempt_->is_traced && attempt_->threads == 1) close();
}

void TracedPasses::resumed() {
  if (attempt_.has_value() && attempt_->is_traced && attempt_->threads == 1) open();
}

void TracedPasses::loop_ending() {
  const std::lock_guard guard(mutex_);
  if (attempt_.has_value() && attempt_->is_traced && ++attempt_->ending == attempt_->threads) close();
}

LoopEnd TracedPasses::loop_ended(std::uint64_t iterations) {
  const std::lock_guard guard(mutex_);
  if (!attempt_.has_value()) return {};
  Attempt& attempt = *attempt_;
  attempt.iterations += iterations;
  ++attempt.ended;
  if (attempt.is_traced && attempt.ended == attempt.threads) {
    trace_.is_whole = true;
    trace_.iterations = attempt.iterations;
  }
  if (attempt.repeats == 0) attempt.is_stopped = attempt.is_stopped || is_long_enough();
  return {attempt.is_stopped, attempt.repeats != 1};
}

}  // namespace syscost::benchmark_adapter
