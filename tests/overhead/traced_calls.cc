// SPDX-License-Identifier: MIT
//
// The cost of a profile for a call while its window is open, and once for each window.
//
// usage: overhead_traced_calls --syscost_profile=bpftrace|perf [--syscost_bpf=NAME] --syscost_backend=none
//
// Prints nanoseconds per getppid and per 1-byte write to /dev/null, before the tool is there and inside a window that
// it looks at, each the least of nine batches; and milliseconds for starting and stopping the tool around a window.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "syscost/adapter.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCalls = 20'000;

double elapsed_ns(Clock::time_point since) {
  return std::chrono::duration<double, std::nano>(Clock::now() - since).count();
}

template <class Call>
double ns_per_call(Call call) {
  std::array<double, 9> batches{};
  for (double& batch : batches) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    batch = elapsed_ns(start) / kCalls;
  }
  // The least disturbed batch: a preemption can only add.
  return *std::min_element(batches.begin(), batches.end());
}

struct Times {
  double getppid_ns;
  double write_ns;
};

Times time_calls(int null) {
  return {ns_per_call([] { syscall(SYS_getppid); }), ns_per_call([null] { syscall(SYS_write, null, "x", 1); })};
}

}  // namespace

int main() {
  if (!syscost::adapter::requested()) {
    std::fprintf(stderr, "usage: overhead_traced_calls --syscost_profile=bpftrace|perf ...\n");
    return 2;
  }
  syscost::adapter::start_or_exit({"overhead_traced_calls"});
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const Times bare = time_calls(null);
  const Clock::time_point start = Clock::now();
  syscost::adapter::open_window({syscost::adapter::Kind::test, "Overhead.Traced", "", 0});
  const double opening_ns = elapsed_ns(start);
  const Times traced = time_calls(null);
  const Clock::time_point end = Clock::now();
  syscost::adapter::close_window("passed");
  const double closing_ns = elapsed_ns(end);
  std::printf("bare_getppid_ns %.1f bare_write_ns %.1f getppid_ns %.1f write_ns %.1f window_ms %.1f\n", bare.getppid_ns,
              bare.write_ns, traced.getppid_ns, traced.write_ns, (opening_ns + closing_ns) / 1e6);
  syscost::adapter::finish();
  return 0;
}
