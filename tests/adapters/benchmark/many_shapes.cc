// SPDX-License-Identifier: MIT
//
// Benchmarks with known syscalls, in all shapes in which Google Benchmark runs a body.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

void call(long number) {
  syscall(number);
}

/// True when SYSCOST_TEST_BODY asks for a body that does more than count.
bool wants(const char* what) {
  const char* variable = std::getenv("SYSCOST_TEST_BODY");
  return variable != nullptr && std::strcmp(variable, what) == 0;
}

void BM_OneCall(benchmark::State& state) {
  for (auto _ : state) call(SYS_getppid);
}
BENCHMARK(BM_OneCall);
BENCHMARK(BM_OneCall)->Name("BM_OneCallThreads")->Threads(1)->Threads(2)->Threads(8);
BENCHMARK(BM_OneCall)->Name("BM_RealTime")->UseRealTime();
BENCHMARK(BM_OneCall)->Name("BM_ProcessTime")->MeasureProcessCPUTime();
BENCHMARK(BM_OneCall)->Name("BM_Fixed")->Iterations(7);
BENCHMARK(BM_OneCall)->Name("BM_Repeats")->Repetitions(3);
BENCHMARK(BM_OneCall)->Name("BM_OnlyAggregates")->Repetitions(3)->ReportAggregatesOnly(true);
BENCHMARK(BM_OneCall)->Name("BM_FixedAggregates")->Iterations(100)->Repetitions(3)->ReportAggregatesOnly(true);
BENCHMARK(BM_OneCall)->Name("BM_MinTime")->MinTime(0.02);

/// More threads in their loops at once than there are lanes: they meet there.
pthread_barrier_t g_meeting;
void BM_TooManyThreads(benchmark::State& state) {
  if (state.thread_index() == 0) pthread_barrier_init(&g_meeting, nullptr, static_cast<unsigned>(state.threads()));
  for (auto _ : state) pthread_barrier_wait(&g_meeting);
  // Every loop has ended: Google Benchmark lets its threads wait for each other there.
  if (state.thread_index() == 0) pthread_barrier_destroy(&g_meeting);
}
BENCHMARK(BM_TooManyThreads)->Threads(20)->Iterations(2);

void BM_NoCall(benchmark::State& state) {
  int x = 0;
  for (auto _ : state) benchmark::DoNotOptimize(++x);
}
BENCHMARK(BM_NoCall);

void BM_KeepRunning(benchmark::State& state) {
  while (state.KeepRunning()) call(SYS_getppid);
}
BENCHMARK(BM_KeepRunning);

void BM_Batch(benchmark::State& state) {
  while (state.KeepRunningBatch(8)) {
    for (int i = 0; i < 8; ++i) call(SYS_getppid);
  }
}
BENCHMARK(BM_Batch);

void BM_WritesAndSync(benchmark::State& state) {
  const int file = memfd_create("log", MFD_CLOEXEC);
  for (auto _ : state) {
    for (int i = 0; i < state.range(0); ++i) benchmark::DoNotOptimize(pwrite(file, "x", 1, 0));
    fdatasync(file);
  }
  close(file);
}
BENCHMARK(BM_WritesAndSync)->Arg(1)->Range(4, 16);

void BM_SometimesMore(benchmark::State& state) {
  int iteration = 0;
  for (auto _ : state) {
    call(SYS_getppid);
    if (iteration++ % 16 == 0) call(SYS_getuid);
  }
}
BENCHMARK(BM_SometimesMore);

void BM_OpensOnce(benchmark::State& state) {
  int file = -1;
  for (auto _ : state) {
    if (file < 0) file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    benchmark::DoNotOptimize(write(file, "x", 1));
  }
  close(file);
}
BENCHMARK(BM_OpensOnce);

/// Three calls in the first iteration that fail, and two in each; more of either where SYSCOST_TEST_BODY asks for it.
void BM_PerRunCalls(benchmark::State& state) {
  bool is_first = true;
  for (auto _ : state) {
    for (int i = 0; is_first && i < (wants("one more per run") ? 4 : 3); ++i)
      benchmark::DoNotOptimize(access("/nowhere", 0));
    is_first = false;
    for (int i = 0; i < (wants("twice as many") ? 4 : 2); ++i) call(SYS_getppid);
  }
}
BENCHMARK(BM_PerRunCalls);
BENCHMARK(BM_PerRunCalls)->Name("BM_PerRunCallsThreads")->Threads(2);

void BM_Pauses(benchmark::State& state) {
  for (auto _ : state) {
    call(SYS_getppid);
    state.PauseTiming();
    call(SYS_getuid);
    state.ResumeTiming();
    call(SYS_getgid);
  }
}
BENCHMARK(BM_Pauses)->Iterations(200);
BENCHMARK(BM_Pauses)->Name("BM_PausesThreads")->Iterations(200)->Threads(2);

/// All threads of a benchmark meet in every iteration; yields, so that what it calls is not a matter of luck only.
std::atomic<int> g_arrived{0};
void BM_Barrier(benchmark::State& state) {
  int round = 0;
  if (state.thread_index() == 0) g_arrived = 0;
  for (auto _ : state) {
    call(SYS_getppid);
    ++g_arrived;
    ++round;
    while (g_arrived.load() < round * state.threads()) {
    }
  }
}
BENCHMARK(BM_Barrier)->Threads(2)->Iterations(50);

void BM_ManualTime(benchmark::State& state) {
  for (auto _ : state) {
    call(SYS_getppid);
    state.SetIterationTime(1e-3);
  }
}
BENCHMARK(BM_ManualTime)->UseManualTime();

/// As with a clock that was set back.
void BM_NegativeTime(benchmark::State& state) {
  for (auto _ : state) {
    call(SYS_getppid);
    state.SetIterationTime(-1e-6);
  }
}
BENCHMARK(BM_NegativeTime)->UseManualTime()->Iterations(10);

void BM_CountsItself(benchmark::State& state) {
  for (auto _ : state) call(SYS_getppid);
  state.counters["syscalls"] = 77;
}
BENCHMARK(BM_CountsItself);

void BM_Slow(benchmark::State& state) {
  // How long the body takes is what decides how often it is counted.
  for (auto _ : state) usleep(150000);
}
BENCHMARK(BM_Slow)->UseRealTime();

void BM_Skipped(benchmark::State& state) {
  state.SkipWithError("nothing to do here");
  for (auto _ : state) call(SYS_getppid);
}
BENCHMARK(BM_Skipped);

void BM_FailsInTheLoop(benchmark::State& state) {
  for (auto _ : state) {
    call(SYS_getppid);
    state.SkipWithError("went wrong");
    break;
  }
}
BENCHMARK(BM_FailsInTheLoop);

void BM_Complexity(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < state.range(0); ++i) call(SYS_getppid);
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_Complexity)->RangeMultiplier(4)->Range(1, 64)->Complexity();

/// A pass of this family that ends with an error is the only one of its benchmark.
BENCHMARK(BM_Complexity)->Name("BM_ComplexityOnce")->Arg(1)->Arg(2)->Repetitions(1)->Complexity();
BENCHMARK(BM_Complexity)->Name("BM_ComplexityOwn")->Arg(1)->Arg(2)->Repetitions(1)->Complexity([](auto n) {
  return static_cast<double>(n);
});

/// Two benchmarks of one name.
void BM_CallsTwice(benchmark::State& state) {
  for (auto _ : state) {
    call(SYS_getppid);
    call(SYS_getppid);
  }
}
BENCHMARK(BM_OneCall)->Name("BM_Twin");
BENCHMARK(BM_CallsTwice)->Name("BM_Twin");

class Fixture : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State&) override { call(SYS_getuid); }
  void TearDown(const benchmark::State&) override { call(SYS_getuid); }
};
BENCHMARK_F(Fixture, CallsTwice)(benchmark::State& state) {
  for (auto _ : state) {
    call(SYS_getppid);
    call(SYS_getppid);
  }
}

template <int kCalls>
void BM_Template(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < kCalls; ++i) call(SYS_getppid);
  }
}
BENCHMARK_TEMPLATE(BM_Template, 3);

void BM_UserCounter(benchmark::State& state) {
  for (auto _ : state) call(SYS_getppid);
  state.counters["mine"] = 42;
  state.SetLabel("a label");
}
BENCHMARK(BM_UserCounter);

/// Ends the process, or part of it, in the ways that SYSCOST_TEST_BODY names.
void BM_Odd(benchmark::State& state) {
  static bool was_here = false;
  if (std::exchange(was_here, true) && wants("once")) std::abort();
  for (auto _ : state) {
    call(SYS_getppid);
    if (wants("throw")) throw std::runtime_error("thrown by the body");
    if (wants("exit")) std::exit(0);
    if (wants("_exit")) _exit(0);
    if (wants("close-all")) {
      for (int fd = 3; fd < 1024; ++fd) close(fd);
    }
    if (wants("exec")) execl("/bin/true", "true", nullptr);
    if (wants("crash")) raise(SIGSEGV);
    if (wants("crash-counted") && std::getenv("SYSCOST_INTERNAL_COUNTING") != nullptr) raise(SIGSEGV);
    if (wants("thread")) std::thread([] { call(SYS_getgid); }).join();
    if (wants("fork")) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      waitpid(child, nullptr, 0);
    }
    if (wants("fork-returns")) {
      const pid_t child = fork();
      if (child == 0) {
        state.SkipWithError("the child runs whatever is left, as the parent does");
        break;
      }
      waitpid(child, nullptr, 0);
    }
  }
}
BENCHMARK(BM_Odd)->Iterations(2);

/// For the oracle: known calls, some of which fail. No other code of this program makes these syscalls.
void BM_ForStrace(benchmark::State& state) {
  const int file = memfd_create("log", MFD_CLOEXEC);
  for (auto _ : state) {
    for (int i = 0; i < 3; ++i) benchmark::DoNotOptimize(pwrite(file, "x", 1, 0));
    if (truncate("/nowhere", 0) == 0) state.SkipWithError("there is a /nowhere");
  }
  close(file);
}
BENCHMARK(BM_ForStrace)->Iterations(50);

void BM_Last(benchmark::State& state) {
  for (auto _ : state) call(SYS_getppid);
}
BENCHMARK(BM_Last);

}  // namespace

#ifndef SYSCOST_TEST_MAIN_ELSEWHERE
BENCHMARK_MAIN();
#endif
