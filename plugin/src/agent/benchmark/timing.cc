// SPDX-License-Identifier: MIT
//
// The process that times: before its first benchmark another process counts, then rows are written as Google Benchmark
// reports. Nothing of ours stands in the benchmarks themselves.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/counts.h"
#include "agent/benchmark/flags.h"
#include "agent/benchmark/gathering.h"
#include "agent/benchmark/layouts.h"
#include "agent/benchmark/reporters.h"
#include "agent/benchmark/reports.h"
#include "agent/hooks.h"
#include "syscost/counting.h"

namespace syscost::agent::benchmark {
namespace {

struct Timing {
  std::size_t call = 0;
  int depth = 0;                  ///< Of reporters that pass an event on to another one.
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
  leave_children_alone();
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
