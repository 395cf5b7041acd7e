// SPDX-License-Identifier: MIT
#include "adapters/benchmark/hooks.h"

#include <benchmark/benchmark.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "adapters/benchmark/counting_run.h"
#include "adapters/benchmark/passes.h"
#include "adapters/benchmark/timing_run.h"
#include "adapters/benchmark/tracing_run.h"
#include "agent/find/relocations.h"
#include "late/late.h"
#include "libc/symbols.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

#if !defined(__GLIBCXX__) || !_GLIBCXX_USE_CXX11_ABI
#error "syscost::benchmark knows the symbols of libstdc++ with its C++11 strings only"
#endif

#define SYSCOST_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define SYSCOST_RUN "_ZN9benchmark22RunSpecifiedBenchmarks"
#define SYSCOST_REPORTER "PNS_17BenchmarkReporterE"
// Visible: GNU ld refuses to link a program with a shared library that names the function, were they not.
#define SYSCOST_WRAPPED(symbol) __asm__("__wrap_" symbol) __attribute__((visibility("default")))
#define SYSCOST_REAL(symbol) __asm__("__real_" symbol)

using benchmark::BenchmarkReporter;
using benchmark::State;

// Every program of the consumer is linked with `-u syscost_benchmark_registration`, which pulls this file out of its
// archive before an object that needs it is seen.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): a name of the linker's
extern const int syscost_benchmark_registration;
const int syscost_benchmark_registration = 1;
// NOLINTEND(readability-identifier-naming)
}

// ---- the library's own ----------------------------------------------------------------------------------------------

std::size_t syscost_real_run(BenchmarkReporter* display, BenchmarkReporter* file, std::string spec)
    SYSCOST_REAL(SYSCOST_RUN "E" SYSCOST_REPORTER "S1_" SYSCOST_STRING);
void syscost_real_initialize(int* argc, char** argv, void (*help)())
    SYSCOST_REAL("_ZN9benchmark10InitializeEPiPPcPFvvE");
void syscost_real_start(State* state) SYSCOST_REAL("_ZN9benchmark5State16StartKeepRunningEv");
void syscost_real_finish(State* state) SYSCOST_REAL("_ZN9benchmark5State17FinishKeepRunningEv");
void syscost_real_pause(State* state) SYSCOST_REAL("_ZN9benchmark5State11PauseTimingEv");
void syscost_real_resume(State* state) SYSCOST_REAL("_ZN9benchmark5State12ResumeTimingEv");
// Benchmark is in namespace internal up to 1.9.4. Weak: only one of the two is there.
__attribute__((weak)) void* syscost_real_complexity(void* benchmark, int order)
    SYSCOST_REAL("_ZN9benchmark8internal9Benchmark10ComplexityENS_4BigOE");
__attribute__((weak)) void* syscost_real_complexity(void* benchmark, double (*order)(std::int64_t))
    SYSCOST_REAL("_ZN9benchmark8internal9Benchmark10ComplexityEPFdlE");
__attribute__((weak)) void* syscost_real_complexity_since_1_9_5(void* benchmark, int order)
    SYSCOST_REAL("_ZN9benchmark9Benchmark10ComplexityENS_4BigOE");
__attribute__((weak)) void* syscost_real_complexity_since_1_9_5(void* benchmark, double (*order)(std::int64_t))
    SYSCOST_REAL("_ZN9benchmark9Benchmark10ComplexityEPFdlE");

namespace syscost::benchmark_adapter {

std::size_t real_run(BenchmarkReporter* display, BenchmarkReporter* file, std::string spec) {
  return syscost_real_run(display, file, std::move(spec));
}

void real_initialize(int* argc, char** argv) {
  syscost_real_initialize(argc, argv, ::benchmark::PrintDefaultHelp);
}

namespace {

/// One for this program and its shared libraries: each that is linked with us has hooks of its own. Null while nothing
/// asks, and all that a hook does is look.
std::atomic<adapter::SharedAdapterState*> g_shared_state{nullptr};
std::atomic<bool> g_is_loop_checked{false};

void watch() {
  adapter::SharedAdapterState& its = adapter::shared_adapter_state();
  its.why_main_is_unseen.store(why_main_is_unseen);
  g_shared_state.store(&its);
}

[[maybe_unused]] const bool kIsWatching = [] {
  late::at_load(watch);
  return true;
}();

adapter::SharedAdapterState* shared_state() {
  // A static initialiser of the user's may come before the one above.
  if (g_shared_state.load(std::memory_order_relaxed) == nullptr && late::is_loaded()) watch();
  return g_shared_state.load(std::memory_order_relaxed);
}

/// Null while loops are not counted.
Passes* counting_passes() {
  const adapter::SharedAdapterState* const its = shared_state();
  if (its == nullptr) return nullptr;
  return static_cast<Passes*>(const_cast<void*>(its->observer.load(std::memory_order_relaxed)));
}

/// Ends a program that runs its benchmarks past us, so that they would have no counts.
void check_that_main_is_seen() {
  if (shared_state() == nullptr || g_is_loop_checked.exchange(true)) return;
  if (shared_state()->is_main_seen.load() || !adapter::requested()) return;
  if (const Unavailable* const why = why_main_is_unseen()) adapter::refuse(*why);
}

bool is_counting() {
  return shared_state() != nullptr && adapter::is_counting_process();
}

std::size_t run(BenchmarkReporter* display, BenchmarkReporter* file, std::string spec) {
  if (shared_state() == nullptr) return real_run(display, file, std::move(spec));
  static CountingRequest* const next_request = new CountingRequest;  // of the next call of this function
  const std::size_t call = next_request->call++;
  shared_state()->is_main_seen.store(true);
  if (adapter::is_counting_process()) {
    const CountingRequest given = CountingRequest::from(adapter::counting_request());
    if (call != given.call) return call < given.answers.size() ? given.answers[call] : 0;
    if (given.is_for_tools) {
      shared_state()->observer.store(static_cast<Passes*>(&TracedPasses::instance()));
      run_tracing(spec);
    }
    shared_state()->observer.store(&Passes::instance());
    run_counting(spec, given);
  }
  std::size_t answer = 0;
  if (is_listing() || !adapter::requested()) {
    answer = real_run(display, file, std::move(spec));
  } else {
    CountingRequest its = *next_request;
    its.call = call;
    answer = run_timing(display, file, spec, its);
  }
  next_request->answers.push_back(answer);
  return answer;
}

}  // namespace
}  // namespace syscost::benchmark_adapter

// ---- what the program calls -----------------------------------------------------------------------------------------

namespace benchmark_adapter = syscost::benchmark_adapter;

std::size_t syscost_run() SYSCOST_WRAPPED(SYSCOST_RUN "Ev");
std::size_t syscost_run() {
  return benchmark_adapter::run(nullptr, nullptr, benchmark::GetBenchmarkFilter());
}

std::size_t syscost_run(std::string spec) SYSCOST_WRAPPED(SYSCOST_RUN "E" SYSCOST_STRING);
std::size_t syscost_run(std::string spec) {
  return benchmark_adapter::run(nullptr, nullptr, std::move(spec));
}

std::size_t syscost_run(BenchmarkReporter* display) SYSCOST_WRAPPED(SYSCOST_RUN "E" SYSCOST_REPORTER);
std::size_t syscost_run(BenchmarkReporter* display) {
  return benchmark_adapter::run(display, nullptr, benchmark::GetBenchmarkFilter());
}

std::size_t syscost_run(BenchmarkReporter* display, std::string spec)
    SYSCOST_WRAPPED(SYSCOST_RUN "E" SYSCOST_REPORTER SYSCOST_STRING);
std::size_t syscost_run(BenchmarkReporter* display, std::string spec) {
  return benchmark_adapter::run(display, nullptr, std::move(spec));
}

std::size_t syscost_run(BenchmarkReporter* display, BenchmarkReporter* file)
    SYSCOST_WRAPPED(SYSCOST_RUN "E" SYSCOST_REPORTER "S1_");
std::size_t syscost_run(BenchmarkReporter* display, BenchmarkReporter* file) {
  return benchmark_adapter::run(display, file, benchmark::GetBenchmarkFilter());
}

std::size_t syscost_run(BenchmarkReporter* display, BenchmarkReporter* file, std::string spec)
    SYSCOST_WRAPPED(SYSCOST_RUN "E" SYSCOST_REPORTER "S1_" SYSCOST_STRING);
std::size_t syscost_run(BenchmarkReporter* display, BenchmarkReporter* file, std::string spec) {
  return benchmark_adapter::run(display, file, std::move(spec));
}

void syscost_initialize(int* argc, char** argv, void (*help)()) SYSCOST_WRAPPED("_ZN9benchmark10InitializeEPiPPcPFvvE");
void syscost_initialize(int* argc, char** argv, void (*help)()) {
  if (benchmark_adapter::shared_state() != nullptr) benchmark_adapter::shared_state()->is_main_seen.store(true);
  if (benchmark_adapter::shared_state() != nullptr && argc != nullptr && argv != nullptr) {
    // The main of some versions refuses unknown flags: it never sees ours.
    syscost::adapter::take_prefixed_options(argc, argv);
    benchmark_adapter::note_flags(*argc, argv);
  }
  syscost_real_initialize(argc, argv, help);
}

void syscost_start(State* state) SYSCOST_WRAPPED("_ZN9benchmark5State16StartKeepRunningEv");
void syscost_start(State* state) {
  benchmark_adapter::check_that_main_is_seen();
  syscost_real_start(state);
  if (benchmark_adapter::Passes* passes = benchmark_adapter::counting_passes()) {
    passes->loop_started({state->thread_index(), state->threads(), static_cast<std::uint64_t>(state->max_iterations)});
  }
}

void syscost_finish(State* state) SYSCOST_WRAPPED("_ZN9benchmark5State17FinishKeepRunningEv");
void syscost_finish(State* state) {
  benchmark_adapter::Passes* passes = benchmark_adapter::counting_passes();
  if (passes != nullptr) passes->loop_ending();
  syscost_real_finish(state);
  if (passes == nullptr) return;
  const benchmark_adapter::LoopEnd end = passes->loop_ended(static_cast<std::uint64_t>(state->iterations()));
  // After an error Google Benchmark does not try a longer pass. Times are not used here, and the benchmark's own error
  // would have been set before this one.
  if (end.is_long_enough && end.may_have_error) state->SkipWithError(benchmark_adapter::Passes::stop_message());
}

void syscost_pause(State* state) SYSCOST_WRAPPED("_ZN9benchmark5State11PauseTimingEv");
void syscost_pause(State* state) {
  if (benchmark_adapter::Passes* passes = benchmark_adapter::counting_passes()) passes->paused();
  syscost_real_pause(state);
}

void syscost_resume(State* state) SYSCOST_WRAPPED("_ZN9benchmark5State12ResumeTimingEv");
void syscost_resume(State* state) {
  syscost_real_resume(state);
  if (benchmark_adapter::Passes* passes = benchmark_adapter::counting_passes()) passes->resumed();
}

// A counting process fits no curve: its times are thrown away, and Google Benchmark crashes if every run of a family
// ends with an error, as passes.h ends them.
void* syscost_complexity(void* benchmark, int order)
    SYSCOST_WRAPPED("_ZN9benchmark8internal9Benchmark10ComplexityENS_4BigOE");
void* syscost_complexity(void* benchmark, int order) {
  if (benchmark_adapter::is_counting()) return benchmark;
  return syscost_real_complexity(benchmark, order);
}

void* syscost_complexity(void* benchmark, double (*order)(std::int64_t))
    SYSCOST_WRAPPED("_ZN9benchmark8internal9Benchmark10ComplexityEPFdlE");
void* syscost_complexity(void* benchmark, double (*order)(std::int64_t)) {
  if (benchmark_adapter::is_counting()) return benchmark;
  return syscost_real_complexity(benchmark, order);
}

void* syscost_complexity_since_1_9_5(void* benchmark, int order)
    SYSCOST_WRAPPED("_ZN9benchmark9Benchmark10ComplexityENS_4BigOE");
void* syscost_complexity_since_1_9_5(void* benchmark, int order) {
  if (benchmark_adapter::is_counting()) return benchmark;
  return syscost_real_complexity_since_1_9_5(benchmark, order);
}

void* syscost_complexity_since_1_9_5(void* benchmark, double (*order)(std::int64_t))
    SYSCOST_WRAPPED("_ZN9benchmark9Benchmark10ComplexityEPFdlE");
void* syscost_complexity_since_1_9_5(void* benchmark, double (*order)(std::int64_t)) {
  if (benchmark_adapter::is_counting()) return benchmark;
  return syscost_real_complexity_since_1_9_5(benchmark, order);
}

namespace syscost::benchmark_adapter {
namespace {

std::map<std::string, std::string>& noted() {
  static auto* const flags = new std::map<std::string, std::string>;
  return *flags;
}

bool is_true(const std::string& value) {
  return value.find_first_of("0fFnN") != 0 && value != "off" && value != "OFF" && value != "Off";
}

}  // namespace

void note_flags(int argc, char** argv) {
  const std::string prefix = "--benchmark_";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.compare(0, prefix.size(), prefix) != 0) continue;
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(prefix.size(), equals - std::min(equals, prefix.size()));
    noted()[name] = equals == std::string::npos ? "true" : argument.substr(equals + 1);
  }
}

std::string flag_value(const std::string& name) {
  const auto at = noted().find(name);
  if (at != noted().end()) return at->second;
  std::string variable = "BENCHMARK_";
  for (const char c : name) variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const char* value = adapter::variable(variable.c_str());
  return value != nullptr ? value : "";
}

bool is_listing() {
  const std::string value = flag_value("list_tests");
  return !value.empty() && is_true(value);
}

bool is_interleaving() {
  const std::string value = flag_value("enable_random_interleaving");
  return !value.empty() && is_true(value);
}

std::int64_t asked_repetitions() {
  return std::max<std::int64_t>(1, SYSCOST_LIBC(strtoll)(flag_value("repetitions").c_str(), nullptr, 10));
}

void set_flags(const std::vector<std::string>& flags) {
  // Google Benchmark keeps a pointer to the first.
  static const std::string program = [] {
    const std::vector<std::string> arguments = adapter::started_with();
    return arguments.empty() ? std::string("benchmark") : arguments.front();
  }();
  std::vector<std::string> words = flags;
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size()) + 1;
  real_initialize(&argc, argv.data());
}

namespace {

/// The functions that a loop calls and that every main() calls; and the hook that a loop calls in a library that is
/// linked with us.
constexpr std::string_view kLoop = "_ZN9benchmark5State16StartKeepRunningEv";
constexpr std::string_view kStart = "_ZN9benchmark10InitializeEPiPPcPFvvE";
constexpr std::string_view kHooks = "__wrap__ZN9benchmark5State16StartKeepRunningEv";

/// True if a relocation of the loaded object names the symbol.
bool imports([[maybe_unused]] const dl_phdr_info& object, [[maybe_unused]] std::string_view name) {
#ifdef __LP64__
  return agent::read_relocations(object).any_of(
      [&](const ElfW(Rela)&, std::size_t, const char* symbol) { return symbol == name; });
#else  // other relocations
  return false;
#endif
}

/// True when a loaded shared library asks for `symbol`, and not for our hooks.
bool is_asked_for_unseen(std::string_view symbol) {
  struct Search {
    std::string_view symbol;
    bool found;
  } search{symbol, false};
  SYSCOST_LIBC(dl_iterate_phdr)
  (
      [](dl_phdr_info* object, std::size_t, void* result) {
        // The program itself has no name, and is linked with us.
        if (object->dlpi_name == nullptr || *object->dlpi_name == '\0') return 0;
        auto& its = *static_cast<Search*>(result);
        if (!imports(*object, its.symbol) || imports(*object, kHooks)) return 0;
        its.found = true;
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace

bool may_have_unseen_loops() {
  return is_asked_for_unseen(kLoop);
}

const Unavailable* why_main_is_unseen() {
  static const Unavailable in_library{
      "these benchmarks are run by a main() in a shared library, past syscost",
      "link that library with syscost::benchmark as well, link libbenchmark_main as a static library, write "
      "BENCHMARK_MAIN(), or link syscost::benchmark_main"};
  static const Unavailable optimised{
      "no benchmark ran through syscost: Google Benchmark was compiled for optimisation at link time (-flto), and its "
      "functions are bound or inlined before the linker can give them to syscost",
      "compile Google Benchmark, not your benchmarks, without it: -fno-lto, or "
      "set_target_properties(benchmark PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)"};
  if (is_asked_for_unseen(kStart)) return &in_library;
  // Google Benchmark notes its program's name when it is initialised.
  return ::benchmark::BenchmarkReporter::Context::executable_name != nullptr ? &optimised : nullptr;
}

}  // namespace syscost::benchmark_adapter
