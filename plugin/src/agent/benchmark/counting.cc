// SPDX-License-Identifier: MIT
//
// The process that counts: it runs the program's benchmarks, prints nothing, and sends the counts of each.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/passes.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/record_sender.h"
#include "agent/benchmark/layouts.h"
#include "agent/benchmark/loops.h"
#include "agent/benchmark/reporters.h"
#include "agent/benchmark/reports.h"
#include "agent/benchmark/request.h"
#include "agent/find/texts.h"
#include "agent/hooks.h"
#include "syscost/counting.h"

namespace syscost::agent::benchmark {
namespace {

struct Counting {
  Request request;
  std::size_t call = 0;
  const void* display = nullptr;  ///< The first reporter of a call that runs.
  Reports reports;
  std::optional<benchmark_adapter::RecordSender> sender;
  std::atomic<std::size_t> announced{0};  ///< One more than the position that was announced last.
};
Counting& counting() {
  static auto* const its = new Counting;
  return *its;
}

/// The position of the benchmark that is reported after `done` others of those that are wanted.
std::optional<std::size_t> position_of(std::size_t done) {
  const Request& request = counting().request;
  std::size_t position = request.first;
  for (;; ++position) {
    if (request.wants(position) && done-- == 0) return position;
  }
}

/// Benchmark begins with its vtable and the name of the family.
std::string family_of(const void* benchmark) {
  const char* const name = static_cast<const char*>(benchmark) + sizeof(void*);
  for (const StringLayout layout : {StringLayout::libstdcxx, StringLayout::libcxx, StringLayout::libstdcxx_old}) {
    if (layout == StringLayout::libcxx && !reporters().may_be_libcxx) continue;
    if (std::optional<std::string> text = read_string(name, layout)) return *std::move(text);
  }
  return "benchmark";
}

/// Any thread.
bool wants(const void* benchmark) {
  Counting& its = counting();
  const std::size_t position = its.reports.count();
  if (!its.request.wants(position)) return false;
  if (its.announced.exchange(position + 1) != position + 1) adapter::send_line("family\t" + family_of(benchmark));
  return true;
}

void open_counted_call() {
  leave_children_alone();
  adapter::Framework framework;
  framework.name = "Google Benchmark";
  const adapter::CountingStart started = adapter::start_counting(framework);
  benchmark_adapter::send_start(started.backend, started.note, started.why_not);
  if (started.why_not.has_value()) adapter::end_counting();
  counting().sender.emplace(
      position_of, true, std::string(),
      Unavailable{
          "Its loop was not seen: its class was compiled with -fno-rtti, or derives from Google Benchmark's other "
          "than by its first base.",
          "Compile it with RTTI, or link the program with syscost::benchmark."});
}

// ---- the reporters' functions
// -----------------------------------------------------------------------------------------

/// False: Google Benchmark runs no benchmark.
bool on_counted_context(const void* reporter, const void*) {
  Counting& its = counting();
  if (its.display != nullptr) return true;
  its.display = reporter;
  if (its.call != its.request.call) return false;
  open_counted_call();
  return true;
}

void on_counted_config(const void*, double, bool, std::int64_t) {}

void on_counted_runs(const void* reporter, const void* vector) {
  Counting& its = counting();
  if (reporter != its.display || !its.sender) return;
  std::vector<benchmark_adapter::TimedRun> runs = read_runs(vector, reporters().has_skips, reporters().may_be_libcxx);
  const std::size_t position = its.reports.count();
  its.reports.add(runs);
  if (runs.empty() || its.reports.count() == position || !its.request.wants(position)) return;
  its.sender->report(runs);
}

void on_counted_finalize(const void* reporter) {
  Counting& its = counting();
  if (reporter != its.display) return;
  if (its.call == its.request.call) adapter::end_counting();
  its.display = nullptr;
  ++its.call;
}

}  // namespace

bool hook_counting(const Modules& modules, const std::vector<Vtable>& vtables) {
  Counting& its = counting();
  its.request = Request::from(adapter::counting_request());
  if (!hook_loops(modules, wants)) return false;
  const auto put_in = [&](int slot, auto* function) {
    bool is_done = true;
    for (const Vtable& vtable : vtables) {
      if (slot < 0 || slot >= vtable.count) continue;
      is_done =
          reporters().functions.put_in(modules, vtable, slot, reinterpret_cast<std::uintptr_t>(function)) && is_done;
    }
    return is_done;
  };
  const ReporterSlots& slots = reporters().slots;
  return put_in(slots.context, on_counted_context) && put_in(slots.config, on_counted_config) &&
         put_in(slots.runs, on_counted_runs) && put_in(slots.finalize, on_counted_finalize);
}

}  // namespace syscost::agent::benchmark
