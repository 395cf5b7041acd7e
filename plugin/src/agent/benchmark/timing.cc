// SPDX-License-Identifier: MIT
#include "agent/benchmark/timing.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/benchmark/counts.h"
#include "adapters/benchmark/record.h"
#include "agent/benchmark/flags.h"
#include "agent/benchmark/layouts.h"
#include "agent/benchmark/reporters.h"
#include "agent/hooks.h"
#include "syscost/counting.h"

namespace syscost::agent::benchmark {
namespace {

using benchmark_adapter::Record;

/// Listens to one counting process after the other.
class Listener {
 public:
  Listener(benchmark_adapter::Counts& counts, std::size_t call) : counts_(counts) { request_.call = call; }

  const Request& request() const { return request_; }
  const std::optional<adapter::CountingStart>& start() const { return start_; }
  std::size_t counted() const { return counted_; }

  void begin() {
    running_.clear();
    record_ = Record{};
    done_here_ = 0;
    has_started_ = false;
  }

  void hear(std::string_view line) {
    const std::vector<std::string_view> fields = benchmark_adapter::split_fields(line);
    if (fields[0] == "start" && fields.size() == 3) {
      start_.emplace();
      start_->backend = fields[1];
      start_->note = fields[2];
      has_started_ = true;
    } else if (fields[0] == "unavailable" && fields.size() == 3) {
      start_.emplace();
      start_->why_not = Unavailable{std::string(fields[1]), std::string(fields[2])};
    } else if (fields[0] == "family" && fields.size() == 2) {
      running_ = fields[1];
    } else if (benchmark_adapter::receive(line, record_)) {
      next_ = record_.position + 1;
      const std::size_t before = bearers_[record_.name]++;
      counts_.add(std::exchange(record_, Record{}), before);
      running_.clear();
      ++counted_;
      ++done_here_;
    }
  }

  /// A benchmark that takes long is counted for long, with nothing on the screen.
  void wait(int seconds) const {
    const bool is_terminal = isatty(STDERR_FILENO) != 0;
    if (seconds % (is_terminal ? 5 : 60) != 0) return;
    adapter::say("counting " + (running_.empty() ? "benchmarks" : "a benchmark of " + running_) + ", for " +
                 std::to_string(seconds) + " s so far");
  }

  /// True where another process is to go on.
  bool goes_on(const adapter::CountingEnd& end) {
    if (end.is_whole) return false;
    const std::string heard = end.errors.empty() ? "" : "; it wrote:\n" + end.errors;
    if (running_.empty() && done_here_ == 0) {
      adapter::note_missing_counts(
          {std::string(has_started_ && counted_ > 0 ? "further benchmarks have" : "the benchmarks have") +
               " no counts: the process that counts " + end.how + " before it ran one" + heard,
           "let main() reach the benchmarks without input, whatever earlier benchmarks report"});
      return false;
    }
    if (!running_.empty()) {
      adapter::note_missing_counts(
          {"a benchmark of " + running_ + " has no counts: the process that counts " + end.how + " in it" + heard,
           "repair that benchmark, or leave it out with --benchmark_filter"});
      request_.dead.push_back(next_);
      request_.first = next_ + 1;
      ++next_;
      return true;
    }
    // It ended because of what the last one left, or after all of them: a run without the last one will show.
    request_.first = next_;
    return true;
  }

 private:
  benchmark_adapter::Counts& counts_;
  Request request_;
  std::optional<adapter::CountingStart> start_;
  std::map<std::string, std::size_t> bearers_;
  std::size_t next_ = 0;  ///< The position after the last record.
  std::size_t counted_ = 0;

  // The next four belong to the process that speaks.
  Record record_;
  std::string running_;  ///< The family of a benchmark that has begun.
  std::size_t done_here_ = 0;
  bool has_started_ = false;
};

}  // namespace

bool selects_all() {
  const std::string filter = flag_value("filter");
  return filter.empty() || filter == "all" || filter == ".";
}

void gather_counts(benchmark_adapter::Counts& counts, adapter::Framework& framework, std::size_t call) {
  Listener listener(counts, call);
  bool goes_on = true;
  while (goes_on) {
    listener.begin();
    const CountingEnvironment environment;
    const adapter::CountingEnd end = adapter::run_counting_process(
        listener.request().text(), [&](std::string_view line) { listener.hear(line); },
        [&](int seconds) { listener.wait(seconds); });
    if (listener.start() && listener.start()->why_not) break;
    goes_on = listener.goes_on(end);
  }
  framework.selection = selects_all() ? "whole" : listener.counted() == 1 ? "isolated" : "subset";
  const adapter::CountingStart start = listener.start().value_or(adapter::CountingStart());
  // An error at the start. Once benchmarks ran, their rows are worth more than the end of the program.
  if (call > 0 && start.why_not) return adapter::note_problem(*start.why_not);
  adapter::set_counted_by_or_exit(start, framework);
}

namespace {

struct Timing {
  std::size_t call = 0;
  int depth = 0;                  ///< How many reporters are passing an event on to another one.
  const void* display = nullptr;  ///< The first reporter of a call that runs.
  const void* file = nullptr;     ///< The second, if there is one.
  Reports of_display;
  Reports of_file;
  std::unique_ptr<benchmark_adapter::Counts> counts;
};
Timing& timing() {
  static auto* const its = new Timing;
  return *its;
}

struct Depth {
  Depth() { ++timing().depth; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --timing().depth; }
};

void open_call() {
  if (adapter::wants_tools()) {
    adapter::refuse(
        {"tools beside us (--syscost_profile) observe a benchmark only in a program that is linked with "
         "syscost::benchmark",
         "link the program with syscost::benchmark, or leave the profile out"});
  }
  Timing& its = timing();
  its.counts = std::make_unique<benchmark_adapter::Counts>();
  its.of_display = its.of_file = Reports();
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  adapter::check_report_or_exit(framework.name, flag_value("out"));
  adapter::start_timing_or_exit(framework);
  if (adapter::wants_counts()) {
    gather_counts(*its.counts, framework, its.call);
  } else {
    framework.selection = selects_all() ? "whole" : "subset";
    adapter::set_counted_by_or_exit({}, framework);
  }
  adapter::begin_timing();
}

bool on_context(const void* reporter, const void* context) {
  Timing& its = timing();
  if (its.depth == 0 && !adapter::is_fork_child()) {
    if (its.display == nullptr) {
      its.display = reporter;
      open_call();
    } else {
      its.file = reporter;
    }
  }
  const Depth depth;
  return reporters().functions.call_for<bool>(reporter, reporters().slots.context, context);
}

void on_runs(const void* reporter, const void* vector) {
  Timing& its = timing();
  if (its.depth == 0 && its.display != nullptr && !adapter::is_fork_child()) {
    std::vector<benchmark_adapter::TimedRun> runs = read_runs(vector, reporters().has_skips, reporters().may_be_libcxx);
    const bool is_display = reporter == its.display;
    (is_display ? its.of_display : its.of_file).add(runs);
    if (runs.empty()) {
      adapter::note_problem(
          {"what this program's Google Benchmark reports lies in memory as in no version that syscost "
           "knows (1.5 to 1.9): its benchmarks have no rows",
           "link the program with syscost::benchmark, or measure it as a whole: bench run --process"});
    }
    its.counts->write_rows(runs, !is_display || its.file == nullptr);
  }
  const Depth depth;
  reporters().functions.call(reporter, reporters().slots.runs, vector);
}

void on_finalize(const void* reporter) {
  Timing& its = timing();
  {
    const Depth depth;
    reporters().functions.call(reporter, reporters().slots.finalize);
  }
  if (its.depth != 0 || reporter != its.display || adapter::is_fork_child()) return;
  adapter::end_timing();
  its.display = its.file = nullptr;
  ++its.call;
}

}  // namespace

bool hook_timing(const Modules& modules, const std::vector<Vtable>& vtables) {
  CountingEnvironment::note_preload();
  const auto put_in = [&](int slot, auto* function) {
    bool is_done = true;
    for (const Vtable& vtable : vtables) {
      if (slot >= vtable.count) continue;
      is_done =
          reporters().functions.put_in(modules, vtable, slot, reinterpret_cast<std::uintptr_t>(function)) && is_done;
    }
    return is_done;
  };
  const ReporterSlots& slots = reporters().slots;
  return put_in(slots.context, on_context) && put_in(slots.runs, on_runs) && put_in(slots.finalize, on_finalize);
}

}  // namespace syscost::agent::benchmark
