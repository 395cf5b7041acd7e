// SPDX-License-Identifier: MIT
#include "adapters/benchmark/passes.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "libc/clock_and_mutex.h"
#include "syscost/counting.h"
#include "syscost/syscost.h"

namespace syscost::benchmark_adapter {
namespace {

using Clock = libc::SteadyClock;

}  // namespace

/// A pass being run by one or several threads.
struct Passes::Attempt {
  int threads = 1;
  std::uint64_t asked = 0;  // iterations of each thread
  int repeats = 0;          // passes of the same length right before it
  bool is_stopped = false;  // the first of these was long enough
  std::vector<bool> has_started;
  int ended = 0;
  std::uint64_t iterations = 0;  // of the threads that have ended
  Clock::time_point start = Clock::now();
  std::chrono::nanoseconds each{};                       // of its iterations, when the last of its threads ended
  std::chrono::nanoseconds each_before = kNoPassBefore;  // in the pass before
  std::vector<Cost> costs;
};

/// The counts of one thread of a pass.
struct Passes::Window {
  std::shared_ptr<Attempt> attempt;
  Reach reach = Reach::thread;
  std::optional<Scope> scope;  // empty while paused
  std::vector<Cost> parts;     // of the stretches between pauses
};

thread_local std::unique_ptr<Passes::Window> Passes::window_;

Passes& Passes::instance() {
  static auto* const passes = new Passes;
  return *passes;
}

const char* Passes::stop_message() {
  return "syscost: the counted pass is long enough";
}

void Passes::open(Window& window) {
  if (!window.scope.has_value()) window.scope.emplace(window.reach, adapter::OfAdapter{});
}

void Passes::close(Window& window) {
  if (!window.scope.has_value()) return;
  window.parts.push_back(window.scope->stop());
  window.scope.reset();
  // A loop that pauses a thousand times need not keep a thousand tables.
  if (window.parts.size() < 2) return;
  Cost whole = adapter::sum(window.parts);
  window.parts.clear();
  window.parts.push_back(std::move(whole));
}

void Passes::loop_started(const LoopStart& loop) {
  // A loop that was left early has never told its end: its window goes, and its pass stays incomplete.
  window_ = std::make_unique<Window>();
  const auto index = static_cast<std::size_t>(loop.thread);
  {
    const std::lock_guard guard(mutex_);
    if (unannounced_.has_value()) send_running(*unannounced_);
    unannounced_.reset();
    // Passes follow each other; this thread starting a second time, or another number of threads, is a new one.
    if (attempts_.empty() || attempts_.back()->threads != loop.threads || attempts_.back()->has_started[index] ||
        attempts_.back()->ended == attempts_.back()->threads) {
      auto attempt = std::make_shared<Attempt>();
      attempt->threads = loop.threads;
      attempt->asked = loop.iterations;
      if (!attempts_.empty()) attempt->each_before = attempts_.back()->each;
      if (!attempts_.empty() && attempts_.back()->asked == attempt->asked) {
        attempt->repeats = attempts_.back()->repeats + 1;
        attempt->is_stopped = attempts_.back()->is_stopped;
      }
      attempt->has_started.assign(static_cast<std::size_t>(loop.threads), false);
      attempts_.push_back(std::move(attempt));
    }
    window_->attempt = attempts_.back();
    window_->attempt->has_started[index] = true;
  }
  // Threads that the body starts belong to it; with several loops side by side they cannot be assigned to one.
  window_->reach = loop.threads == 1 ? Reach::process : Reach::thread;
  open(*window_);
}

void Passes::paused() {
  if (window_ != nullptr) close(*window_);
}

void Passes::resumed() {
  if (window_ != nullptr) open(*window_);
}

void Passes::loop_ending() {
  if (window_ != nullptr) close(*window_);
}

LoopEnd Passes::loop_ended(std::uint64_t iterations) {
  if (window_ == nullptr) return {};
  const std::unique_ptr<Window> window = std::move(window_);
  const std::lock_guard guard(mutex_);
  Attempt& attempt = *window->attempt;
  attempt.iterations += iterations;
  attempt.costs.insert(attempt.costs.end(), window->parts.begin(), window->parts.end());
  ++attempt.ended;
  const std::chrono::nanoseconds took = Clock::now() - attempt.start;
  attempt.each = took / std::max<std::uint64_t>(attempt.asked, 1);
  if (attempt.repeats == 0) attempt.is_stopped = attempt.is_stopped || is_long_enough(attempt, took);
  return {attempt.is_stopped, attempt.repeats != 1};
}

bool Passes::is_long_enough(const Attempt& attempt, std::chrono::nanoseconds took) {
  return attempt.asked >= adapter::wanted_cycles(kPassIterations) ||
         is_slow_pass(std::max<std::uint64_t>(attempt.asked, 1), took, attempt.each_before);
}

void Passes::expect(std::size_t position) {
  const std::lock_guard guard(mutex_);
  unannounced_ = position;
}

std::vector<Pass> Passes::take(std::optional<Unavailable>& why_not) {
  const std::lock_guard guard(mutex_);
  std::vector<Pass> passes;
  for (const std::shared_ptr<Attempt>& attempt : attempts_) {
    if (attempt->ended != attempt->threads) {
      why_not = Unavailable{"A thread left the benchmark's loop before its last iteration.",
                            "Let the loop run to its end, or skip the benchmark before it."};
    }
    Pass pass{attempt->iterations, adapter::sum(attempt->costs)};
    if (const Unavailable* why = pass.cost.unavailable()) why_not = *why;
    passes.push_back(std::move(pass));
  }
  attempts_.clear();
  if (passes.empty() && !why_not.has_value()) {
    why_not = Unavailable{"Its loop was not seen: it is compiled into a library that was linked without syscost.",
                          "Link that library with syscost::benchmark as well, or make it a static one."};
  }
  return passes;
}

}  // namespace syscost::benchmark_adapter
