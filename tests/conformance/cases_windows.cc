// SPDX-License-Identifier: MIT
//
// Windows: calls that straddle an edge, and edges that fall among running calls.
//
// A call belongs to the window it entered. A call that was blocked when a window opened is carried in, one that is
// still blocked when it closes is in flight, and neither may turn up as a giant latency somewhere else.
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "assistant.h"
#include "case.h"
#include "counts.h"
#include "raw.h"
#include "syscost/syscost.h"
#include "worker.h"

namespace conformance {
namespace {

int g_first_pipe[2] = {-1, -1};
int g_second_pipe[2] = {-1, -1};
std::unique_ptr<Assistant> g_assistant;
std::unique_ptr<Worker> g_first;
std::unique_ptr<Worker> g_second;

void read_first() {
  char byte = 0;
  raw(SYS_read, g_first_pipe[0], &byte, 1);
}

void read_second() {
  char byte = 0;
  raw(SYS_read, g_second_pipe[0], &byte, 1);
}

void make_pipes() {
  require(pipe(g_first_pipe) == 0 && pipe(g_second_pipe) == 0, "pipe failed");
  g_assistant = std::make_unique<Assistant>();
}

void stop_all() {
  g_first.reset();
  g_second.reset();
  g_assistant.reset();
}

void block(Worker& worker) {
  worker.go();
  g_assistant->when_blocked(worker.tid(), SYS_read);
  g_assistant->wait();
}

const Register kBlockedAtArm(Case{
    .number = 37,
    .name = "blocked_at_arm",
    .summary = "Reads that blocked before the window, one even before the backend opened, are carried in, not counted.",
    .early =
        [] {
          make_pipes();
          g_first = std::make_unique<Worker>(read_first);
          block(*g_first);
        },
    .setup =
        [] {
          g_second = std::make_unique<Worker>(read_second);
          block(*g_second);
        },
    .windows = {{"",
                 [] {
                   g_assistant->when_blocked_write(g_first->tid(), SYS_read, g_first_pipe[1]);
                   g_assistant->when_blocked_write(g_second->tid(), SYS_read, g_second_pipe[1]);
                   g_first->wait();
                   g_second->wait();
                 },
                 {calls("read", 0).carried(2)}}},
    .teardown = stop_all,
    .needs_no_seccomp_filter = true,
    .unsupported = and_dispatch("the backend only reports a thread older than itself: to count it would interrupt it"),
});

const Register kBlockedAtDisarm(Case{
    .number = 38,
    .name = "blocked_at_disarm_rearmed",
    .summary = "A read still blocked at the end is in flight; in the next window its return is carried in.",
    .setup =
        [] {
          make_pipes();
          g_first = std::make_unique<Worker>(read_first);
        },
    .windows = {{"blocks", [] { block(*g_first); }, {calls("read", 0).left_in_flight(1)}},
                {"returns",
                 [] {
                   g_assistant->when_blocked_write(g_first->tid(), SYS_read, g_first_pipe[1]);
                   g_first->wait();
                 },
                 {calls("read", 0).carried(1)}}},
    .teardown = stop_all,
});

// The worker calls until the last boundary was crossed and counts its calls itself; the outer window must agree to the
// last one, while inner windows open and close as fast as they can.
constexpr int kInnerWindows = 50'000;  // two boundaries each
std::atomic<bool> g_boundaries_done{false};
std::atomic<std::uint64_t> g_busy_calls{0};
std::uint64_t g_inner_entries = 0;

void busy() {
  std::uint64_t made = 0;
  do {
    raw(SYS_getppid);
    ++made;
  } while (!g_boundaries_done.load(std::memory_order_acquire));
  g_busy_calls = made;
}

void cross_boundaries() {
  g_first->go();
  for (int i = 0; i < kInnerWindows; ++i) {
    syscost::Scope inner(syscost::Reach::process);
    g_inner_entries += entries_or_calls(inner.stop(), "getppid").value_or(0);
  }
  g_boundaries_done = true;
  g_first->wait();
}

void check_busy(const syscost::Cost& outer) {
  std::uint64_t counted = entries_or_calls(outer, "getppid").value_or(0);
  require(counted == g_busy_calls,
          "the thread made " + std::to_string(g_busy_calls) + " calls, the window shows " + std::to_string(counted));
  require(g_inner_entries <= counted, "the inner windows show " + std::to_string(g_inner_entries) + " entries, more " +
                                          "than the outer one's " + std::to_string(counted));
}

Row counted_by_the_caller() {
  Row row = any("getppid", "the thread calls until the last boundary and counts its calls itself");
  row.restarts = row.in_flight = row.no_return = row.carried_in = row.denied = 0;
  return row;
}

const Register kBusyBoundaries(Case{
    .number = 39,
    .name = "boundaries_on_busy_thread",
    .summary =
        "100 000 window boundaries while a thread calls all the time: the outer window misses none of its calls.",
    .setup =
        [] {
          // The reader's heap grows to its size before the window: that is the allocator's business.
          for (int i = 0; i < 100; ++i) syscost::measure([] { raw(SYS_getppid); }, syscost::Reach::process);
          g_first = std::make_unique<Worker>(busy);
        },
    .windows = {{.body = cross_boundaries, .rows = {counted_by_the_caller()}, .check = check_busy}},
    .teardown = stop_all,
    .unsupported = {{"oracle", "the body opens windows of its own"},
                    {"not linked", "the body opens windows of its own"}},
});

constexpr std::uint64_t kTenMs = 10'000'000;

void check_latency(const syscost::Cost& cost) {
  for (const syscost::SyscallCost& one : cost.syscalls()) {
    if (one.name != "nanosleep") continue;
    const syscost::Histogram& latency = one.latency;
    require(latency.count() == 1, "one sleep, but " + std::to_string(latency.count()) + " latencies");
    require(latency.min_ns() >= kTenMs, "slept 10 ms, measured " + std::to_string(latency.min_ns()) + " ns");
    require(latency.sum_ns() == latency.min_ns() && latency.max_ns() == latency.min_ns(),
            "sum, minimum and maximum of one latency differ");
    require(latency.bucket_count(syscost::histogram_bucket(latency.min_ns())) == 1, "counted in the wrong bucket");
    return;
  }
  problem("no row for nanosleep");
}

const Register kNanosleep(Case{
    .number = 50,
    .name = "nanosleep_latency",
    .summary = "A nanosleep of 10 ms is one latency of at least 10 ms, in the bucket that holds it.",
    .windows = {{.body =
                     [] {
                       timespec ten_ms = {0, static_cast<long>(kTenMs)};
                       require(raw(SYS_nanosleep, &ten_ms, nullptr) == 0, "nanosleep failed");
                     },
                 .rows = {calls("nanosleep", 1)},
                 .check = check_latency}},
    .needs_latency = true,
    .unsupported = {{"seccomp", "it measures no latency"},
                    {"not linked", "the case reads its latencies by functions of syscost"}},
});

}  // namespace
}  // namespace conformance
