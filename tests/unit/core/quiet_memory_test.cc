// SPDX-License-Identifier: MIT
#include "core/quiet_memory.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "allocation_counter.h"

namespace syscost {
namespace {

TEST(QuietMemory, GrowsBetweenWindowsSoThatMallocIsNotAsked) {
  constexpr std::size_t kBlock = 2048;
  constexpr int kBlocksPerWindow = 1024;  // 2 MiB, of 8 MiB at first
  ASSERT_TRUE(top_up_quiet_memory().ok());
  const std::size_t before = test::allocation_count();
  for (int window = 0; window < 20; ++window) {
    for (int i = 0; i < kBlocksPerWindow; ++i) static_cast<void>(quiet_memory().allocate(kBlock));
    ASSERT_TRUE(top_up_quiet_memory().ok());
  }
  EXPECT_EQ(test::allocation_count(), before);
}

TEST(QuietMemory, ServesBeyondItsReserve) {
  void* large = quiet_memory().allocate(std::size_t{100} << 20);
  EXPECT_NE(large, nullptr);
  quiet_memory().deallocate(large, std::size_t{100} << 20);
}

}  // namespace
}  // namespace syscost
