// SPDX-License-Identifier: MIT
//
// A test program that makes up its stamps on the host. It shows what syscost::gpu does with them and the test's calls.
// It makes known numbers of getppid calls, and nothing else makes any. record_test.py checks what it wrote.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "syscost/gpu/record.h"

namespace syscost::gpu {
namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) static_cast<void>(::getppid());
}

/// Four blocks of one warp on two SMs; each runs for `took_ns`.
StampedLaunch launch_of(std::uint64_t took_ns) {
  StampedLaunch launch;
  launch.gpu_kernel = "sum_tree";
  launch.level = Level::warp;
  launch.grid = Extent3{4, 1, 1};
  launch.block = Extent3{32, 1, 1};
  launch.sm_count = 2;
  launch.blocks_per_sm = 2;
  launch.timer_step_ns = 32;
  launch.overflowed = 0;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  launch.gpu_anchor_ns = 1749147474550000000;
  launch.host_anchor_ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  for (std::uint64_t i = 0; i < 4; ++i) {
    Stamp stamp;
    stamp.block = Extent3{i, 0, 0};
    stamp.thread = Extent3{0, 0, 0};
    stamp.warp = 0;
    stamp.sm = i % 2;
    stamp.entry_ns = 1749147474550000000 + 32 * i;
    stamp.exit_ns = *stamp.entry_ns + took_ns;
    stamp.first_exit_ns = *stamp.exit_ns - 64;
    launch.scopes.push_back(stamp);
  }
  return launch;
}

/// SPEED: how long the made-up GPU kernels take, so that two runs differ.
std::uint64_t took_ns() {
  const char* const text = std::getenv("SPEED");
  return text == nullptr ? 6400 : std::strtoull(text, nullptr, 10);
}

TEST(Sum, Tree) {
  call(3);
  {
    const Aside aside;
    call(50);
    const Aside inner;
    call(50);
  }
  call(2);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(record(launch_of(took_ns() + 32 * (i % 2))), "");
  call(1);
}

TEST(Sum, TimedByEvents) {
  call(2);
  record_times("sum_tree duration (events)", {7168, 6144, 8192});
  record_times("sum_tree duration (events)", {9216});
  record_times("nothing (events)", {});
}

TEST(Sum, LosesStamps) {
  StampedLaunch launch = launch_of(took_ns());
  launch.overflowed = 2;
  EXPECT_EQ(record(launch), "");
}

}  // namespace
}  // namespace syscost::gpu
