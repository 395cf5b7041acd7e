// SPDX-License-Identifier: MIT
#include "backends/common/self_test.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "libc/clock_and_mutex.h"

namespace syscost {

void make_known_calls() {
  for (std::uint64_t i = 0; i < kKnownCalls; ++i) syscall(SYS_getppid);
}

double getppid_ns(int calls) {
  using Clock = libc::SteadyClock;
  std::array<double, 5> rounds{};
  for (double& round : rounds) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < calls; ++i) syscall(SYS_getppid);
    round = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls;
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace syscost
