// SPDX-License-Identifier: MIT
//
// The cost of syscost::loop: for each call of its body, and once for each loop.
//
// usage: overhead_loops --syscost_csv=FILE --syscost_cycles=N --syscost_repeats=1 --syscost_warmup=0
//
// With those flags a loop is two passes of N calls, one timed and one counted. Prints nanoseconds of one turn of a
// plain for loop with an empty body, of one turn of ours, and, run with N = 1, microseconds for taking the instrument
// off, putting it on, and writing the rows. Each is the median of nine.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "syscost/adapter.h"
#include "syscost/loop.h"
#include "syscost/syscost.h"

namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double median_ns(Work work) {
  std::array<double, 9> rounds{};
  for (double& round : rounds) {
    const Clock::time_point start = Clock::now();
    work();
    round = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

void empty_loop() {
  for (auto it : syscost::loop("empty")) asm volatile("");
}

}  // namespace

int main() {
  if (!syscost::adapter::requested()) {
    std::fprintf(stderr,
                 "usage: overhead_loops --syscost_csv=FILE --syscost_cycles=N --syscost_repeats=1 "
                 "--syscost_warmup=0\n");
    return 2;
  }
  syscost::adapter::start_or_exit({"overhead_loops"});
  const int cycles = syscost::cycles(1);
  const double loop_ns = median_ns(empty_loop);
  if (cycles == 1) {
    std::printf("per_loop_us %.1f\n", loop_ns / 1e3);
  } else {
    const double plain_ns = median_ns([cycles] {
      for (int i = 0; i < cycles; ++i) asm volatile("");
    });
    std::printf("plain_ns %.3f loop_ns %.3f\n", plain_ns / cycles, loop_ns / (2.0 * cycles));
  }
  syscost::adapter::finish();
  return 0;
}
