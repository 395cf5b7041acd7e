// SPDX-License-Identifier: MIT
//
// Threads: older than the instrument, born inside the window, gone before its end, moved between CPUs.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "assistant.h"
#include "case.h"
#include "raw.h"
#include "worker.h"

namespace conformance {
namespace {

std::unique_ptr<Worker> g_first;
std::unique_ptr<Worker> g_second;
std::unique_ptr<Assistant> g_assistant;
int g_pipe[2] = {-1, -1};

void stop_workers() {
  g_first.reset();
  g_second.reset();
  g_assistant.reset();
}

const Register kOlderThreads(Case{
    .number = 31,
    .name = "older_threads",
    .summary = "Threads older than the backend and older than the window are counted.",
    .early = [] { g_first = std::make_unique<Worker>([] { repeat_raw(1000, 0, SYS_getppid); }); },
    .setup = [] { g_second = std::make_unique<Worker>([] { repeat_raw(500, 0, SYS_geteuid); }); },
    .windows = {{"",
                 [] {
                   g_first->go();
                   g_second->go();
                   g_first->wait();
                   g_second->wait();
                 },
                 {calls("getppid", 1000), calls("geteuid", 500)}}},
    .teardown = stop_workers,
    .unsupported = and_dispatch("the backend only reports a thread older than itself: to count it would interrupt it"),
});

const Register kThreadInside(Case{
    .number = 32,
    .name = "thread_created_inside",
    .summary = "A thread that starts inside the window is counted from its first call to its exit.",
    .windows = {{"",
                 [] {
                   std::thread thread([] { repeat_raw(1000, 0, SYS_getppid); });
                   thread.join();
                 },
                 {calls("getppid", 1000), calls("exit", 0).never_returning(1)},
                 "what else std::thread does is libc's choice"}},
});

// In waves of kWave threads at a time, each with a stack that the next wave uses again.
constexpr int kThreads = 10'000;
constexpr std::size_t kWave = 16;
std::unique_ptr<std::array<RawThread, kWave>> g_wave;

void run_ten_thousand_threads() {
  bool all_started = true;
  for (int started = 0; started < kThreads;) {
    for (RawThread& thread : *g_wave) {
      all_started = thread.start([](void*) { repeat_raw(5, 0, SYS_getppid); }, nullptr) && all_started;
      ++started;
    }
    for (RawThread& thread : *g_wave) spin_until([&] { return thread.gone(); });
  }
  require(all_started, "clone failed");
}

const Register kTenThousand(Case{
    .number = 33,
    .name = "ten_thousand_threads",
    .summary = "10 000 threads that live for five calls each: every call and every exit is in the sum.",
    .setup = [] { g_wave = std::make_unique<std::array<RawThread, kWave>>(); },
    .windows = {{"",
                 run_ten_thousand_threads,
                 {calls("clone", kThreads), calls("getppid", 5 * kThreads),
                  calls("exit", 0).never_returning(kThreads)}}},
    .teardown = [] { g_wave.reset(); },
});
static_assert(kThreads % kWave == 0);

std::atomic<bool> g_go{false};

const Register kExitsInside(Case{
    .number = 34,
    .name = "thread_exits_inside",
    .summary = "The calls of a thread stay counted if it ends before the window does.",
    .setup =
        [] {
          g_wave = std::make_unique<std::array<RawThread, kWave>>();
          auto wait_and_call = [](void*) {
            spin_until([] { return g_go.load(std::memory_order_acquire); });
            repeat_raw(10, 0, SYS_getppid);
          };
          for (std::size_t i = 0; i < 2; ++i) require((*g_wave)[i].start(wait_and_call, nullptr), "clone failed");
        },
    .windows = {{"",
                 [] {
                   g_go = true;
                   for (RawThread& thread : *g_wave) spin_until([&] { return thread.gone(); });
                 },
                 {calls("getppid", 20), calls("exit", 0).never_returning(2)}}},
    .teardown = [] { g_wave.reset(); },
});

std::atomic<int> g_reader_tid{0};

void* read_for_ever(void* /*unused*/) {
  g_reader_tid = static_cast<int>(raw(SYS_gettid));
  char byte = 0;
  static_cast<void>(::read(g_pipe[0], &byte, 1));  // libc's read: the one that pthread_cancel can end
  return nullptr;
}

void cancel_a_reader() {
  g_reader_tid = 0;
  pthread_t thread = 0;
  pthread_create(&thread, nullptr, read_for_ever, nullptr);
  spin_until([] { return g_reader_tid != 0; });
  g_assistant->when_blocked(g_reader_tid, SYS_read);
  g_assistant->wait();
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
}

Row cancelled_read() {
  Row row =
      any("read", "whether libc's cancellation signal restarts the call it leaves (SA_RESTART) differs by version");
  row.entries = 1;
  row.in_flight = row.no_return = row.carried_in = row.denied = 0;
  return row;
}

const Register kCancel(Case{
    .number = 36,
    .name = "pthread_cancel_in_read",
    .summary = "A thread cancelled in read: one read entered, and no call is open after its end.",
    .setup =
        [] {
          require(pipe(g_pipe) == 0, "pipe failed");
          g_assistant = std::make_unique<Assistant>();
          cancel_a_reader();  // loads the unwinder, outside the window
        },
    .windows = {{"",
                 cancel_a_reader,
                 {cancelled_read(), calls("gettid", 1), calls("tgkill", 1), calls("exit", 0).never_returning(1)},
                 "how libc makes, cancels and joins a thread is its own choice"}},
    .teardown = stop_workers,
});

void hop_between_cpus() {
  cpu_set_t all = {};
  raw(SYS_sched_getaffinity, 0, sizeof all, &all);
  bool moved = true;
  int cpu = 0;
  for (int i = 0; i < 200; ++i) {
    do {
      cpu = (cpu + 1) % CPU_SETSIZE;
    } while (!CPU_ISSET(cpu, &all));
    cpu_set_t one = {};
    CPU_SET(cpu, &one);
    moved = raw(SYS_sched_setaffinity, 0, sizeof one, &one) == 0 && moved;
    repeat_raw(5, 0, SYS_getppid);
  }
  raw(SYS_sched_setaffinity, 0, sizeof all, &all);
  require(moved, "sched_setaffinity failed");
}

const Register kMigration(Case{
    .number = 40,
    .name = "cpu_migration",
    .summary = "A call that enters on one CPU and returns on another is one call.",
    .windows = {{"",
                 hop_between_cpus,
                 {calls("sched_getaffinity", 1), calls("sched_setaffinity", 201), calls("getppid", 1000)}}},
    .missing = []() -> std::string {
      cpu_set_t all = {};
      sched_getaffinity(0, sizeof all, &all);
      return CPU_COUNT(&all) >= 2 ? "" : "one CPU only; run where the process may use two or more";
    },
});

constexpr int kContended = 25'000;

const Register kSameNumber(Case{
    .number = 41,
    .name = "two_threads_same_number",
    .summary = "Two threads that make the same call at the same time are both counted exactly.",
    .setup =
        [] {
          g_first = std::make_unique<Worker>([] { repeat_raw(kContended, 0, SYS_getppid); });
          g_second = std::make_unique<Worker>([] { repeat_raw(kContended, 0, SYS_getppid); });
        },
    .windows = {{"",
                 [] {
                   g_first->go();
                   g_second->go();
                   g_first->wait();
                   g_second->wait();
                 },
                 {calls("getppid", 2 * kContended)}}},
    .teardown = stop_workers,
});

}  // namespace
}  // namespace conformance
