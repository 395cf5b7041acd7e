// SPDX-License-Identifier: MIT
//
// Two threads on one CPU that hand a byte to and fro by pipes, bare or while eBPF programs look at each change of
// threads.
//
// usage: overhead_switching bare|empty|ebpf|sched
//
// Prints nanoseconds of one change of threads, with a write that wakes the other thread and a read, and how many events
// it had. A thread that is woken may take the CPU at once, so the other one need not block each time. The figure is the
// least of nine batches. `empty` is one program at sched_switch that does nothing, `ebpf` is syscost's backend, and
// `sched` the same with --syscost_sched.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "backends/ebpf/ebpf_backend.h"
#include "core/window_book.h"
#include "empty_pair.skel.h"
#include "extras/scheduler/core/scheduler_trace.h"
#include "os/memory.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatches = 9;
constexpr int kRounds = 4000;
/// Room for all: three events for each change, two changes in a round. Keeping one costs more than counting it.
constexpr std::uint32_t kEvents = 2 * 3 * kBatches * kRounds + 10'000;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "overhead_switching: %s\n", what);
  std::exit(2);
}

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) give_up("cannot make a pipe");
  }
  void put() const {
    if (write(ends[1], "x", 1) != 1) give_up("cannot write");
  }
  void take() const {
    char letter = 0;
    if (read(ends[0], &letter, 1) != 1) give_up("cannot read");
  }

  std::array<int, 2> ends{};
};

void stay_on_one_cpu() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) give_up("cannot ask for the CPUs");
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) last = cpu;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) give_up("cannot stay on one CPU");
}

void time_switches() {
  const Pipe there;
  const Pipe back;
  std::thread other([&] {
    for (int i = 0; i < kBatches * kRounds; ++i) {
      there.take();
      back.put();
    }
  });
  std::array<double, kBatches> batches{};
  for (double& batch : batches) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kRounds; ++i) {
      there.put();
      back.take();
    }
    batch = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / (2 * kRounds);
  }
  other.join();
  // The least disturbed batch: a preemption can only add.
  std::printf("switch_ns %.1f\n", *std::min_element(batches.begin(), batches.end()));
}

void time_under_the_empty_program() {
  empty_pair_bpf* programs = empty_pair_bpf__open_and_load();
  if (programs == nullptr) give_up("cannot load the empty program (root?)");
  bpf_link* link = bpf_program__attach(programs->progs.empty_switch);
  if (link == nullptr) give_up("cannot attach the empty program (root?)");
  time_switches();
  bpf_link__destroy(link);
  empty_pair_bpf__destroy(programs);
}

struct Counted final : syscost::SchedulerEventSink {
  void add(const syscost::SchedulerEvent& /*event*/) override { ++events; }
  std::uint64_t events = 0;
};

void time_under_the_backend(std::uint32_t events) {
  const syscost::BackendRequest request = syscost::BackendRequest().add(syscost::SchedulerWish{events});
  syscost::Result<std::unique_ptr<syscost::Backend>> opened = syscost::ebpf::open_backend(request);
  if (!opened.ok()) give_up(opened.failure().reason.c_str());
  syscost::Backend& backend = *opened.value();
  syscost::WindowBook book(backend, syscost::quiet_memory());
  if (backend.extension<syscost::SchedulerTrace>() != nullptr) backend.extension<syscost::SchedulerTrace>()->clear();
  syscost::WindowBook::Window* window = book.open(syscost::Reach::process);
  time_switches();
  syscost::detail::CostData cost(&syscost::quiet_memory());
  book.close(window, cost);
  if (backend.extension<syscost::SchedulerTrace>() == nullptr) return;
  Counted counted;
  if (backend.extension<syscost::SchedulerTrace>()->take(counted) != 0) give_up("there was no room for all events");
  std::printf("events_of_a_switch %.2f\n", static_cast<double>(counted.events) / (2.0 * kBatches * kRounds));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 2 ? argv[1] : "";
  stay_on_one_cpu();
  if (mode == "bare") {
    time_switches();
  } else if (mode == "empty") {
    time_under_the_empty_program();
  } else if (mode == "ebpf" || mode == "sched") {
    time_under_the_backend(mode == "sched" ? kEvents : 0);
  } else {
    give_up("usage: overhead_switching bare|empty|ebpf|sched");
  }
  return 0;
}
