// SPDX-License-Identifier: MIT
//
// The cost of a test's whole window: opened, closed, read, its rows formatted and appended to a CSV.
//
// usage: overhead_windows --syscost_csv=FILE
//
// Prints microseconds of CPU time per append of a line to a file, and per window for windows with 0, 1 and 4 distinct
// syscalls, i.e. 1, 2 and 5 rows. The syscalls themselves are in the figure; they take a fraction of a microsecond.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "syscost/adapter.h"

namespace {

constexpr std::array kSyscalls = {SYS_getppid, SYS_getuid, SYS_getgid, SYS_gettid};
constexpr int kWindows = 1000;

/// CPU time of this process: what else the machine does is not in it, and a window waits for nothing.
double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double microseconds_per_window(std::size_t distinct_syscalls) {
  std::array<double, 9> rounds{};
  for (double& round : rounds) {
    const double start_us = cpu_us();
    for (int i = 0; i < kWindows; ++i) {
      syscost::adapter::open_window({syscost::adapter::Kind::test, "Overhead.Window", "", i});
      for (std::size_t call = 0; call < distinct_syscalls; ++call) syscall(kSyscalls[call]);
      syscost::adapter::Report report = syscost::adapter::close_window("passed");
      if (report.cost.calls().value_or(0) != distinct_syscalls) {
        std::fprintf(stderr, "overhead_windows: a window counted wrongly\n");
        std::exit(1);
      }
    }
    round = (cpu_us() - start_us) / kWindows;
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

/// The cost of any logger that appends a line to a shared file: lock, write, unlock. The line is as long as a usual
/// `test` row.
double microseconds_per_append() {
  char path[] = "/tmp/syscost_append_XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) {
    std::perror("overhead_windows: /tmp");
    std::exit(1);
  }
  unlink(path);
  const std::string line = std::string(255, 'x') + '\n';
  std::array<double, 9> rounds{};
  for (double& round : rounds) {
    const double start_us = cpu_us();
    for (int i = 0; i < kWindows; ++i) {
      const bool is_written = flock(file, LOCK_EX) == 0 &&
                              write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                              flock(file, LOCK_UN) == 0;
      if (!is_written) {
        std::perror("overhead_windows: append");
        std::exit(1);
      }
    }
    round = (cpu_us() - start_us) / kWindows;
  }
  close(file);
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace

int main() {
  if (!syscost::adapter::requested()) {
    std::fprintf(stderr, "usage: overhead_windows --syscost_csv=FILE\n");
    return 2;
  }
  std::printf("append_us %.2f\n", microseconds_per_append());  // while nothing is attached
  syscost::adapter::start_or_exit({"overhead_windows"});
  for (std::size_t distinct : {0U, 1U, 4U}) {
    std::printf("rows_%zu_us %.2f\n", distinct + 1, microseconds_per_window(distinct));
  }
  syscost::adapter::finish();
  return 0;
}
