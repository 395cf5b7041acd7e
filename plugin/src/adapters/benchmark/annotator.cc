// SPDX-License-Identifier: MIT
#include "adapters/benchmark/annotator.h"

#include <cstring>
#include <string>

#include "libc/symbols.h"
#include "syscost/adapter.h"

namespace syscost::benchmark_adapter {
namespace {

/// Counters for so many syscalls of a benchmark, under --syscost_profile syscalls.
constexpr std::size_t kNamedSyscalls = 5;

/// Median and mean are of times; spreads of them are not of counts.
bool shows_counters(const Run& run) {
  return run.run_type == Run::RT_Iteration || run.aggregate_name == "mean" || run.aggregate_name == "median";
}

/// A counter that the benchmark itself gave this name stays what it is.
void add_counter(Run& run, const std::string& name, double value) {
  run.counters.emplace(name, ::benchmark::Counter(value));
}

void add_counters(Run& run, const Figures& figures) {
  add_counter(run, "syscalls", figures.all.per_iteration);
  if (figures.all.per_run.value_or(0) > 0)
    add_counter(run, "syscalls_per_run", static_cast<double>(*figures.all.per_run));
  if (!adapter::prints_lines()) return;
  std::size_t shown = 0;
  for (const Figures::Named& syscall : figures.by_syscall) {
    if (++shown > kNamedSyscalls) break;
    add_counter(run, "sys_" + syscall.name, syscall.figure.per_iteration);
  }
}

}  // namespace

Annotator::Annotator(Reporter& inner, Counts& counts, bool shows, bool is_last)
    : inner_(inner), counts_(counts), shows_(shows), is_last_(is_last) {
  SetOutputStream(&inner.GetOutputStream());
  SetErrorStream(&inner.GetErrorStream());
}

bool Annotator::ReportContext(const Context& context) {
  // Google Benchmark has set ours where the file is; setting them is not virtual.
  inner_.SetOutputStream(&GetOutputStream());
  inner_.SetErrorStream(&GetErrorStream());
  return inner_.ReportContext(context);
}

void Annotator::ReportRunsConfig(double min_time, bool has_iterations, ::benchmark::IterationCount iterations) {
  forward_config(inner_, min_time, has_iterations, iterations, 0);
}

void Annotator::ReportRuns(const std::vector<Run>& runs) {
  counts_.write_rows(timed_runs_of(runs), is_last_);
  std::vector<Run> annotated = runs;
  for (Run& run : annotated) {
    const Figures* figures = counts_.figures(timed_run_of(run));
    if (!shows_ || figures == nullptr || !shows_counters(run) || SYSCOST_LIBC(strcmp)(outcome_of(run), "passed") != 0)
      continue;
    add_counters(run, *figures);
  }
  inner_.ReportRuns(annotated);
}

void Annotator::Finalize() {
  inner_.Finalize();
}

}  // namespace syscost::benchmark_adapter
