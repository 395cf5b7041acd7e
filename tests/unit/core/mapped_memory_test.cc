// SPDX-License-Identifier: MIT
#include "os/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "../sanitized.h"
#include "allocation_counter.h"

namespace syscost {
namespace {

TEST(MappedMemory, ServesTextOfAnySizeWithoutTheHeapAndLeavesQuietMemoryToWindows) {
  ASSERT_TRUE(top_up_quiet_memory().ok());
  std::pmr::memory_resource& memory = mapped_memory();
  const std::size_t before = test::allocation_count();
  for (int i = 0; i < 50; ++i) {
    std::pmr::string text(&memory);
    for (int row = 0; row < 20'000; ++row) text.append("a row of a hundred bytes, or a little less than that; ");
  }
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_FALSE(is_quiet_memory_scarce());
}

TEST(MappedMemory, ServesQuietMemoryIfNothingCanBeMapped) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer needs address space";
  ASSERT_TRUE(top_up_quiet_memory().ok());
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  void* const block = mapped_memory().allocate(kBytes);
  EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  ASSERT_NE(block, nullptr);
  std::memset(block, 1, kBytes);
  mapped_memory().deallocate(block, kBytes);
}

}  // namespace
}  // namespace syscost
