// SPDX-License-Identifier: MIT
#include "adapters/benchmark/tracing_run.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <ostream>
#include <utility>
#include <vector>

#include "adapters/benchmark/counting_run.h"
#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/passes.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/versions.h"
#include "libc/clock_and_mutex.h"
#include "libc/symbols.h"
#include "syscost/adapter.h"
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
  if (attempt_.has_value()) next.each_before = attempt_->each;
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

bool TracedPasses::is_long_enough(std::chrono::nanoseconds took) const {
  if (is_for_tools_) return is_traced_ || position_ >= lengths_.size() || lengths_[position_] == 0;
  return attempt_->asked >= adapter::wanted_cycles(kPassIterations) ||
         is_slow_pass(std::max<std::uint64_t>(attempt_->asked, 1), took, attempt_->each_before);
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
  const std::chrono::nanoseconds took(now_ns() - attempt.start_ns);
  attempt.each = took / std::max<std::uint64_t>(attempt.asked, 1);
  if (attempt.repeats == 0) attempt.is_stopped = attempt.is_stopped || is_long_enough(took);
  return {attempt.is_stopped, attempt.repeats != 1};
}

namespace {

/// Prints nothing; learns of each benchmark when it is done.
class TraceSender : public Reporter {
 public:
  explicit TraceSender(bool is_for_tools) : is_for_tools_(is_for_tools) { begin_next(); }

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    bool has_repetitions = false;
    std::string message;
    for (const Run& run : runs) {
      has_repetitions = has_repetitions || run.run_type == Run::RT_Iteration;
      if (std::string(outcome_of(run)) != "passed" && message_of(run) != Passes::stop_message()) {
        message = message_of(run);
      }
    }
    TracedPasses& passes = TracedPasses::instance();
    // Aggregates come after the repetitions, and then the passes were taken already; or instead of them.
    if (runs.empty() || (!has_repetitions && !passes.has_passes())) return;
    const std::string name = runs.front().run_name.str();
    passes.end_benchmark();
    if (is_for_tools_) send(name, message);
    ++done_;
    begin_next();
  }

 private:
  void begin_next() const {
    if (is_for_tools_) send_running(done_);
    TracedPasses::instance().begin_benchmark(done_, is_for_tools_);
  }

  static void send(const std::string& name, const std::string& message) {
    const TracedPasses::Trace trace = TracedPasses::instance().take();
    if (!trace.is_whole) {
      const std::string why = message.empty() ? "no whole pass of its loop was seen" : message;
      adapter::send_line("untraced\t" + name + "\t" + why);
      return;
    }
    Cost counted = adapter::sum(trace.costs);
    const std::string text = adapter::detach_tools(name, counted.available() ? &counted : nullptr);
    adapter::send_line("traced\t" + std::to_string(trace.iterations) + "\t" + name + "\t" + text);
  }

  const bool is_for_tools_;
  std::size_t done_ = 0;
};

}  // namespace

void run_tracing(const std::string& spec) {
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  const adapter::CountingStart start = adapter::start_tracing(framework);
  send_start(start.backend, start.note, start.why_not);
  if (start.why_not.has_value()) adapter::end_counting();
  leave_no_other_passes();
  send_names(list_names(spec));
  // Two repetitions: of one family's runs one must be without an error (passes.h).
  set_pass_flags(2);
  std::ostream nowhere(nullptr);
  for (const bool is_for_tools : {false, true}) {
    TraceSender sender(is_for_tools);
    sender.SetOutputStream(&nowhere);
    real_run(&sender, nullptr, spec);
  }
  adapter::end_counting();
}

void Traces::gather(CountingRequest request) {
  request.is_for_tools = true;
  const auto wait = [this](int seconds) {
    const bool is_terminal = SYSCOST_LIBC(isatty)(STDERR_FILENO) != 0;
    if (seconds % (is_terminal ? 5 : 60) != 0 || running_ >= names_.size()) return;
    adapter::say("tracing benchmark " + names_[running_] + ", for " + std::to_string(seconds) + " s so far");
  };
  const adapter::CountingEnd end = adapter::run_counting_process(
      request.text(), [this](std::string_view line) { hear(line); }, wait);
  if (end.is_whole) return;
  const std::string heard = end.errors.empty() ? "" : "; it wrote:\n" + end.errors;
  if (!is_listed_) {
    adapter::note_missing_counts(
        {"no benchmark is traced: the process that tools look at " + end.how + " before it ran a benchmark" + heard,
         "let main() reach the benchmarks without input, whatever earlier benchmarks report"});
    return;
  }
  const std::string where = running_ < names_.size() ? "in benchmark " + names_[running_] : "after the last benchmark";
  adapter::note_missing_counts({"the process that tools look at " + end.how + " " + where + ": " +
                                    std::to_string(traces_.size()) + " of " + std::to_string(names_.size()) +
                                    " benchmarks were traced" + heard,
                                "repair that benchmark, or leave it out with --benchmark_filter"});
}

void Traces::hear(std::string_view line) {
  const std::vector<std::string_view> fields = split_fields(line);
  if (fields[0] == "unavailable" && fields.size() == 3) {
    adapter::refuse({std::string(fields[1]), std::string(fields[2])});
  } else if (fields[0] == "name" && fields.size() == 2) {
    names_.emplace_back(fields[1]);
  } else if (fields[0] == "listed") {
    is_listed_ = true;
  } else if (fields[0] == "running" && fields.size() == 2) {
    running_ = SYSCOST_LIBC(strtoull)(std::string(fields[1]).c_str(), nullptr, 10);
  } else if (fields[0] == "traced" && fields.size() == 4) {
    const std::string name(fields[2]);
    traces_.push_back({name, repetition_of(name), SYSCOST_LIBC(strtoull)(std::string(fields[1]).c_str(), nullptr, 10),
                       std::string(fields[3])});
  } else if (fields[0] == "untraced" && fields.size() == 3) {
    adapter::say("benchmark " + std::string(fields[1]) + " is not traced: " + std::string(fields[2]));
  }
}

/// Benchmarks of one name are one series, as in the rows of what was timed.
std::uint64_t Traces::repetition_of(const std::string& name) const {
  return static_cast<std::uint64_t>(
      std::count_if(traces_.begin(), traces_.end(), [&](const Trace& trace) { return trace.name == name; }));
}

void Traces::write() const {
  std::vector<adapter::TracedPass> passes;
  for (const Trace& trace : traces_) passes.push_back({trace.name, trace.repetition, trace.iterations, trace.text});
  adapter::write_traced(passes);
}

}  // namespace syscost::benchmark_adapter
