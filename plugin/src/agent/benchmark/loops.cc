// SPDX-License-Identifier: MIT
#include "agent/benchmark/loops.h"

#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "adapters/benchmark/passes.h"
#include "agent/benchmark/layouts.h"
#include "agent/find/imports.h"
#include "agent/find/overridden.h"

namespace syscost::agent::benchmark {
namespace {

using benchmark_adapter::LoopEnd;
using benchmark_adapter::Passes;
using Clock = int (*)(clockid_t id, timespec* time);

// The slots of Benchmark, of MemoryManager and of ProfilerManager, which begin with two destructors.
constexpr int kRun = 2;
constexpr int kStart = 2;
constexpr int kStop = 3;

/// Filled before main() and not changed afterwards.
struct Hooks {
  Overridden benchmarks;
  Overridden managers;
  std::function<bool(const void* benchmark)> wants;
  Clock clock = nullptr;
  /// A manager of the program's will run the loop for purposes of its own. One thread at a time.
  std::atomic<bool> is_for_manager{false};
};
Hooks& hooks() {
  static auto* const its = new Hooks;
  return *its;
}

/// The loop that runs on this thread.
struct Loop {
  StateEnd end;
  std::uint64_t asked = 0;
  bool is_running = false;
  bool has_begun = false;
  bool is_for_manager = false;
};
thread_local Loop* t_loop = nullptr;

/// So that Google Benchmark tries a pass ten times as long, or none.
void set_times(ThreadTimer& timer, bool is_long_enough) {
  timer.real = timer.cpu = timer.manual = is_long_enough ? 1e9 : 1e-9;
}

/// As if its loop had run to its end.
void leave_out(State& state, const std::optional<StateEnd>& end) {
  state.left = state.left_of_batch = 0;
  state.has_started = state.has_finished = true;
  if (state.complexity == 0) state.complexity = 1;
  if (end) set_times(*end->timer, true);
}

void on_run(const void* benchmark, State* state) {
  const std::optional<StateEnd> end = find_end(*state);
  if (hooks().is_for_manager || !hooks().wants(benchmark)) return leave_out(*state, end);
  if (!end) return hooks().benchmarks.call(benchmark, kRun, state);  // "its loop was not seen"
  Loop loop;
  loop.end = *end;
  loop.asked = static_cast<std::uint64_t>(state->asked);
  struct Inside {
    explicit Inside(Loop& its) { t_loop = &its; }
    ~Inside() { t_loop = nullptr; }
  };
  {
    const Inside inside(loop);
    hooks().benchmarks.call(benchmark, kRun, state);
  }
  // Skipped before its loop, or left early: then its pass stays incomplete.
  if (!loop.has_begun || !state->has_finished) return;
  Passes::instance().loop_ending();
  const LoopEnd how = Passes::instance().loop_ended(state->iterations());
  set_times(*end->timer, how.is_long_enough);
}

// NOLINTBEGIN(clang-analyzer-core.CallAndMessage): hooks().clock is set before on_clock can be called
int on_clock(clockid_t id, timespec* time) {
  Loop* const loop = t_loop;
  const bool may_be_timer =
      loop != nullptr && !loop->is_for_manager && (id == CLOCK_THREAD_CPUTIME_ID || id == CLOCK_PROCESS_CPUTIME_ID);
  if (!may_be_timer || loop->end.timer->is_running == loop->is_running) return hooks().clock(id, time);
  loop->is_running = !loop->is_running;
  if (!loop->is_running) {
    Passes::instance().paused();
    return hooks().clock(id, time);
  }
  const int result = hooks().clock(id, time);
  if (loop->has_begun) {
    Passes::instance().resumed();
  } else {
    loop->has_begun = true;
    Passes::instance().loop_started({loop->end.thread, loop->end.threads, loop->asked});
  }
  return result;
}
// NOLINTEND(clang-analyzer-core.CallAndMessage)

// Since 1.9 a ProfilerManager hears of it inside of Run(), and before that right before it.
void on_manager_start(const void*) {
  if (t_loop != nullptr) {
    t_loop->is_for_manager = true;
  } else {
    hooks().is_for_manager = true;
  }
}
void on_manager_stop(const void*, void*) {
  hooks().is_for_manager = false;
}

template <class Function>
bool put_in(Overridden& overridden, const Modules& modules, const std::vector<Vtable>& vtables, int slot,
            Function* function) {
  bool is_done = true;
  for (const Vtable& vtable : vtables) {
    if (slot >= vtable.count) continue;
    is_done = overridden.put_in(modules, vtable, slot, reinterpret_cast<std::uintptr_t>(function)) && is_done;
  }
  return is_done;
}

}  // namespace

bool hook_loops(const Modules& modules, const std::function<bool(const void* benchmark)>& wants) {
  Hooks& its = hooks();
  its.wants = wants;
  std::vector<Vtable> benchmarks = vtables_of_derived(modules, "N9benchmark8internal9BenchmarkE");
  if (benchmarks.empty()) benchmarks = vtables_of_derived(modules, "N9benchmark9BenchmarkE");  // since 1.9.5
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as POSIX says of dlsym
  its.clock = reinterpret_cast<Clock>(dlsym(RTLD_DEFAULT, "clock_gettime"));
  bool has_clock = false;
  for (const Module& module : modules) {
    for (std::uintptr_t* const slot : import_slots(module, "clock_gettime"))
      has_clock = put(modules, slot, reinterpret_cast<std::uintptr_t>(on_clock)) || has_clock;
  }
  if (benchmarks.empty() || its.clock == nullptr || !has_clock) return false;
  for (const char* const manager : {"N9benchmark13MemoryManagerE", "N9benchmark15ProfilerManagerE"}) {
    const std::vector<Vtable> managers = vtables_of_derived(modules, manager);
    put_in(its.managers, modules, managers, kStart, on_manager_start);
    put_in(its.managers, modules, managers, kStop, on_manager_stop);
    // Stop() of MemoryManager stands there twice in most versions, with a pointer and with a reference.
    for (const Vtable& vtable : managers) {
      if (vtable.count == kStop + 2) put_in(its.managers, modules, {vtable}, kStop + 1, on_manager_stop);
    }
  }
  return put_in(its.benchmarks, modules, benchmarks, kRun, on_run);
}

}  // namespace syscost::agent::benchmark
