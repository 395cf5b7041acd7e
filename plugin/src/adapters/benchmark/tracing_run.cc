// SPDX-License-Identifier: MIT
#include "adapters/benchmark/tracing_run.h"

#include <benchmark/benchmark.h>

#include <ostream>
#include <vector>

#include "adapters/benchmark/counting_run.h"
#include "adapters/benchmark/hooks.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/traced_passes.h"
#include "adapters/benchmark/versions.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {
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

}  // namespace syscost::benchmark_adapter
