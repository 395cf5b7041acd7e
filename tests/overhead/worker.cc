// SPDX-License-Identifier: MIT
//
// The program that makes the timed syscalls, bare or under an instrument.
//
// usage: overhead_worker MODE CALLS
//
// Prints nanoseconds per getppid and per 1-byte write to /dev/null, each the least of nine batches of CALLS. MODE says
// what this process does to itself first; instruments that work from outside (strace, perf trace, bpftrace, syscount)
// run around mode `bare`. With `where:` the calls have a stack of 14 functions. With `fault:` a rule of a fault looks
// at the calls, and hits none; with `others:` it is a rule of another thread.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>

#include "backends/dispatch/dispatch_backend.h"
#include "backends/ebpf/ebpf_backend.h"
#if SYSCOST_HAS_SECCOMP
#include "backends/seccomp/seccomp_backend.h"
#endif
#include "core/window_book.h"
#include "empty_pair.skel.h"
#include "extras/faults/core/fault_rule.h"
#include "extras/where/core/call_stack.h"
#include "os/memory.h"

namespace {

using Clock = std::chrono::steady_clock;

template <class Call>
double ns_per_call(int calls, Call call) {
  std::array<double, 9> batches{};
  for (double& batch : batches) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    batch = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls;
  }
  // The least disturbed batch: a preemption can only add.
  return *std::min_element(batches.begin(), batches.end());
}

struct Times {
  double getppid_ns;
  double write_ns;
};

/// With --syscost_where a call costs more if there are more functions on its stack: there are `depth` ones above this.
// NOLINTNEXTLINE(misc-no-recursion): a deep stack is what it is for
__attribute__((noinline)) Times times_at(int depth, int calls) {
  Times times{};
  if (depth > 0) {
    times = times_at(depth - 1, calls);
  } else {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    times.getppid_ns = ns_per_call(calls, [] { getppid(); });
    times.write_ns = ns_per_call(calls, [null] { return write(null, "x", 1); });
    close(null);
  }
  asm volatile("" : : "r"(&times) : "memory");  // not a tail call, which would leave no function on the stack
  return times;
}

void time_calls(int calls, int depth = 0) {
  const Times times = times_at(depth, calls);
  std::printf("getppid_ns %.1f write_ns %.1f\n", times.getppid_ns, times.write_ns);
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "overhead_worker: %s\n", what);
  std::exit(2);
}

/// With `leaves_out` the calls that are timed are not among those that stop.
syscost::Result<std::unique_ptr<syscost::Backend>> open_seccomp([[maybe_unused]] bool leaves_out) {
#if SYSCOST_HAS_SECCOMP
  static const auto kOthers = syscost::Filter::parse("%network").value();
  return syscost::seccomp::open_backend({.filter = leaves_out ? kOthers.get() : nullptr});
#else
  return syscost::Failure{"built without the seccomp backend", "install libseccomp-dev"};
#endif
}

/// Room for all the calls that are timed: keeping an event costs more than counting that there is no room.
constexpr std::uint64_t kTraced = 500'000;

template <class Wish>
syscost::Result<std::unique_ptr<syscost::Backend>> open_dispatch(Wish wish) {
  syscost::BackendRequest request;
  request.add(std::move(wish));
  return syscost::dispatch::open_backend(syscost::dispatch::Patching::allowed, request);
}

std::unique_ptr<syscost::Backend> open_backend(std::string_view name) {
  syscost::Result<std::unique_ptr<syscost::Backend>> backend =
      name == "dispatch" || name == "fault" || name == "others"
          ? syscost::dispatch::open_backend(syscost::dispatch::Patching::allowed)
      : name == "traced"     ? open_dispatch(syscost::CallTraceRequest{kTraced, {}})
      : name == "trap"       ? syscost::dispatch::open_backend(syscost::dispatch::Patching::never)
      : name == "seccomp"    ? open_seccomp(false)
      : name == "unselected" ? open_seccomp(true)
      : name == "where"      ? open_dispatch(syscost::StackWish{})
                             : syscost::ebpf::open_backend();
  if (!backend.ok()) give_up(backend.failure().reason.c_str());
  return std::move(backend.value());
}

/// Times the calls under two programs of empty_pair.bpf.c.
void time_under_pair(const char* enter, const char* exit, int calls) {
  empty_pair_bpf* pair = empty_pair_bpf__open_and_load();
  if (pair == nullptr) give_up("cannot load the empty pair (root?)");
  std::array<bpf_link*, 2> links{};
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i] = bpf_program__attach(bpf_object__find_program_by_name(pair->obj, i == 0 ? enter : exit));
    if (links[i] == nullptr) give_up("cannot attach the empty pair (root?)");
  }
  time_calls(calls);
  for (bpf_link* link : links) bpf_link__destroy(link);
  empty_pair_bpf__destroy(pair);
}

/// The kernel looks at every call and lets all pass: what Syscall User Dispatch itself costs.
void let_the_kernel_check() {
  constexpr int kSetDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH, missing in older headers
  constexpr unsigned long kOn = 1;
  constexpr unsigned long kAllAddresses = 1UL << 47;
  if (prctl(kSetDispatch, kOn, 0, kAllAddresses, nullptr) != 0) give_up("the kernel has no Syscall User Dispatch");
}

/// Makes a thread that waits until the process ends.
void stop_being_alone() {
  std::thread([] {
    for (;;) pause();
  }).detach();
}

/// Opens a rule for both calls that hits none of them.
void open_rule(syscost::Backend& backend, bool is_of_another_thread) {
  syscost::FaultRule rule;
  rule.numbers.set(SYS_getppid).set(SYS_write);
  rule.first = rule.last = syscost::FaultRule::kEver;
  rule.result = -EIO;
  const auto open = [&] {
    if (const auto opened = backend.extension<syscost::FaultInjector>()->open(rule); !opened.ok())
      give_up(opened.failure().reason.c_str());
  };
  if (!is_of_another_thread) return open();
  // Its thread has ended before the calls: a second thread alone would make them slower.
  std::thread(open).join();
}

/// Prints the median of the latencies that the backend saw of `call`: the middle of its bucket.
void print_seen(const syscost::CallTable& table, const char* key, std::uint32_t number) {
  const syscost::Tally* tally = table.find({syscost::Abi::x86_64, number});
  if (tally == nullptr || tally->latency.count() == 0) return;
  std::printf("%s %.1f\n", key, static_cast<double>(tally->latency.dense().percentile_ns(0.5)));
}

/// How much deeper a call must be for a stack of kFrames functions.
int missing_depth(syscost::Backend& backend, syscost::WindowBook& book) {
  constexpr int kFrames = 14;
  syscost::WindowBook::Window* window = book.open(syscost::Reach::process);
  times_at(0, 1);
  syscost::detail::CostData cost(&syscost::quiet_memory());
  book.close(window, cost);
  for (const auto& [id, tally] : cost.table) {
    if (id.number != SYS_getppid || id.detail.origin == 0) continue;
    const auto frames = static_cast<int>(backend.extension<syscost::StackSource>()->frames(id.detail.origin).size());
    if (frames <= kFrames) return kFrames - frames;
  }
  give_up("the calls have no stacks, or longer ones");
}

/// Prints the cost of one window: to open it, to close it, and to read the counts of one syscall.
void time_windows(syscost::WindowBook& book) {
  for (syscost::Reach reach : {syscost::Reach::process, syscost::Reach::thread}) {
    double ns = ns_per_call(2000, [&] {
      syscost::WindowBook::Window* window = book.open(reach);
      syscall(SYS_getppid);
      syscost::detail::CostData cost(&syscost::quiet_memory());
      book.close(window, cost);
      if (cost.table.size() != 1) give_up("a window with one call did not count one call");
    });
    std::printf("%s_window_ns %.1f\n", reach == syscost::Reach::process ? "process" : "thread", ns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    give_up(
        "usage: overhead_worker bare|empty_pair|clock_pair|kernel_check|"
        "[ebpf:|dispatch:|fault:|others:|traced:|where:|trap:|seccomp:|unselected:](stay|detached|disarmed|armed|"
        "beside|windows) "
        "CALLS");
  }
  std::string_view mode = argv[1];
  const std::size_t colon = mode.find(':');
  const std::string_view name = colon != std::string_view::npos ? mode.substr(0, colon) : "ebpf";
  if (colon != std::string_view::npos) mode.remove_prefix(colon + 1);
  int calls = std::atoi(argv[2]);
  if (calls <= 0) give_up("CALLS must be a positive number");

  if (mode == "bare") {
    time_calls(calls);
  } else if (mode == "empty_pair") {
    time_under_pair("empty_enter", "empty_exit", calls);
  } else if (mode == "clock_pair") {
    time_under_pair("clock_enter", "clock_exit", calls);
  } else if (mode == "kernel_check") {
    let_the_kernel_check();
    time_calls(calls);
  } else if (mode == "stay") {
    // Measured, and waits until it is killed: one of many.
    const Clock::time_point start = Clock::now();
    std::unique_ptr<syscost::Backend> backend = open_backend(name);
    std::printf("open_ms %.1f ready\n", std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    std::fflush(stdout);
    for (;;) pause();
  } else if (mode == "detached" || mode == "disarmed" || mode == "armed" || mode == "beside" || mode == "windows") {
    std::unique_ptr<syscost::Backend> backend = open_backend(name);
    if (mode == "beside") stop_being_alone();
    syscost::WindowBook book(*backend, syscost::quiet_memory());
    if (name == "fault" || name == "others") open_rule(*backend, name == "others");
    if (mode == "detached" && !backend->detach().ok()) give_up("cannot detach");
    if (mode == "windows") {
      time_windows(book);
    } else if (mode == "armed" || mode == "beside") {
      const int depth = backend->extension<syscost::StackSource>() != nullptr ? missing_depth(*backend, book) : 0;
      syscost::WindowBook::Window* window = book.open(syscost::Reach::process);
      time_calls(calls, depth);
      syscost::detail::CostData cost(&syscost::quiet_memory());
      book.close(window, cost);
      if (cost.lost != 0 || cost.late != 0 || cost.unkept() != 0) give_up("syscost lost events");
      print_seen(cost.table, "seen_getppid_ns", SYS_getppid);
      print_seen(cost.table, "seen_write_ns", SYS_write);
    } else {
      time_calls(calls);
    }
  } else {
    give_up("unknown mode");
  }
  return 0;
}
