// SPDX-License-Identifier: MIT
//
// What a test's window costs end to end: opened, closed, read, its rows formatted and appended to a CSV.
//
// usage: overhead_windows --syscost_csv=FILE
//
// Prints microseconds per window for windows with 0, 1 and 4 distinct syscalls, i.e. 1, 2 and 5 rows. The syscalls
// themselves are in the figure; they take a fraction of a microsecond.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "syscost/adapter.h"

namespace {

constexpr std::array kSyscalls = {SYS_getppid, SYS_getuid, SYS_getgid, SYS_gettid};
constexpr int kWindows = 1000;

double microseconds_per_window(std::size_t distinct_syscalls) {
  using Clock = std::chrono::steady_clock;
  std::array<double, 9> rounds{};
  for (double& round : rounds) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < kWindows; ++i) {
      syscost::adapter::open_window({syscost::adapter::Kind::test, "Overhead.Window", "", i});
      for (std::size_t call = 0; call < distinct_syscalls; ++call) syscall(kSyscalls[call]);
      syscost::adapter::Report report = syscost::adapter::close_window("passed");
      if (report.cost.calls().value_or(0) != distinct_syscalls) {
        std::fprintf(stderr, "overhead_windows: a window counted wrongly\n");
        std::exit(1);
      }
    }
    round = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kWindows;
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace

int main() {
  if (!syscost::adapter::requested()) {
    std::fprintf(stderr, "usage: overhead_windows --syscost_csv=FILE\n");
    return 2;
  }
  syscost::adapter::start_or_exit({"overhead_windows"});
  for (std::size_t distinct : {0U, 1U, 4U}) {
    std::printf("rows_%zu_us %.2f\n", distinct + 1, microseconds_per_window(distinct));
  }
  syscost::adapter::finish();
  return 0;
}
