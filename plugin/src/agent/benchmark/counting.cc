// SPDX-License-Identifier: MIT
//
// The process that counts: it runs the program's benchmarks, prints nothing, and sends the counts of each. It stands
// before the function of each benchmark, and before the functions by which a loop begins and ends.
#include <dlfcn.h>
#include <link.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/passes.h"
#include "adapters/benchmark/record.h"
#include "agent/benchmark/layouts.h"
#include "agent/benchmark/reporters.h"
#include "agent/benchmark/timing.h"
#include "agent/find/classes.h"
#include "agent/find/modules.h"
#include "agent/find/relocations.h"
#include "agent/find/texts.h"
#include "agent/hooks.h"
#include "libc/symbols.h"
#include "syscost/counting.h"

namespace syscost::agent {
namespace {

struct Search {
  const Module* module;
  const char* name;
  std::vector<std::uintptr_t*> found;
};

int visit(dl_phdr_info* object, std::size_t /*size*/, void* context) {
  auto& search = *static_cast<Search*>(context);
  if (object->dlpi_addr != search.module->base ||
      SYSCOST_LIBC(strcmp)(object->dlpi_name != nullptr ? object->dlpi_name : "", search.module->path) != 0) {
    return 0;
  }
  read_relocations(*object).any_of([&](const ElfW(Rela) & one, std::size_t symbol, const char* name) {
    if (symbol != 0 && one.r_addend == 0 && SYSCOST_LIBC(strcmp)(name, search.name) == 0) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): from the relocation
      search.found.push_back(reinterpret_cast<std::uintptr_t*>(object->dlpi_addr + one.r_offset));
    }
    return false;
  });
  return 1;
}

/// The words of `module` that hold the address of the function `name`, or of the code that looks it up at its first
/// call: they are in the tables that the loader fills in, of functions that the module takes from other modules.
std::vector<std::uintptr_t*> import_slots(const Module& module, const char* name) {
  Search search{&module, name, {}};
  SYSCOST_LIBC(dl_iterate_phdr)(visit, &search);
  return search.found;
}

}  // namespace
}  // namespace syscost::agent

namespace syscost::agent::benchmark {
namespace {

// The loops of benchmarks in a program that was not compiled with us.
//
// Each benchmark is a class with a function Run(State&), which ours stands before. The loop in it begins and ends where
// Google Benchmark's ThreadTimer starts and stops: it reads the processor's time of the thread, as its last act before
// the loop and as its first act after it. So our function stands before the program's clock_gettime() as well. The
// timer's switch, which it turns before it reads, tells its reads from the program's own.
//
// In the process that times, none of these functions stands anywhere.

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

/// Puts our functions before those of the program. False where there are no benchmarks, or their clock is not found.
/// `wants`: whether the benchmark that runs now is to be counted. Any thread.
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

// ---- the reporters' functions ---------------------------------------------------------------------------------------

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
