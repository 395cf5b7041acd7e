// SPDX-License-Identifier: MIT
#include "os/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "../sanitized.h"
#include "allocation_counter.h"

namespace syscost {
namespace {

TEST(QuietMemory, GrowsBetweenWindowsSoThatMallocIsNotAsked) {
  constexpr std::size_t kBlock = 2048;
  constexpr int kBlocksPerWindow = 1024;  // 2 MiB, of 10 MiB at first
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

TEST(QuietMemory, ForgetsWhatItServedBeyondItsReserveOnceThatIsGivenBack) {
  ASSERT_TRUE(top_up_quiet_memory().ok());
  ASSERT_FALSE(is_quiet_memory_scarce());
  void* large = quiet_memory().allocate(std::size_t{1} << 30);
  EXPECT_TRUE(is_quiet_memory_scarce());
  quiet_memory().deallocate(large, std::size_t{1} << 30);
  EXPECT_FALSE(is_quiet_memory_scarce());
}

TEST(QuietMemory, IsScarceBeforeItIsUsedUp) {
  ASSERT_TRUE(top_up_quiet_memory().ok());
  EXPECT_FALSE(is_quiet_memory_scarce());
  const std::size_t before = test::allocation_count();
  while (!is_quiet_memory_scarce()) static_cast<void>(quiet_memory().allocate(2048));
  EXPECT_EQ(test::allocation_count(), before) << "malloc was asked first";
  ASSERT_TRUE(top_up_quiet_memory().ok());
  EXPECT_FALSE(is_quiet_memory_scarce());
}

// ---- in a process of its own, where nothing has been reserved yet ---------------------------------------------------

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// This process's, in bytes.
struct Size {
  std::size_t address_space = 0;
  std::size_t resident = 0;

  static Size now() {
    std::ifstream file("/proc/self/statm");
    Size pages;
    file >> pages.address_space >> pages.resident;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return {pages.address_space * page, pages.resident * page};
  }
};

/// Ends the child of a death test, saying what does not hold.
void expect_in_child(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::_Exit(1);
}

void limit_address_space_to(std::size_t bytes_more) {
  const rlim_t limit = Size::now().address_space + bytes_more;
  const rlimit both{limit, limit};
  expect_in_child(setrlimit(RLIMIT_AS, &both) == 0, "setrlimit works");
}

class QuietMemoryDeathTest : public ::testing::Test {
 protected:
  QuietMemoryDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(QuietMemoryDeathTest, ReservesAddressesAndNoMemory) {
  EXPECT_EXIT(
      {
        const Size before = Size::now();
        expect_in_child(top_up_quiet_memory().ok(), "it reserves");
        const Size after = Size::now();
        expect_in_child(after.address_space - before.address_space >= 10 * kMiB, "10 MiB of addresses");
        expect_in_child(after.resident - before.resident < kMiB, "hardly any memory");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(QuietMemoryDeathTest, CostsTenMebibytesUnderMlockallHoweverManyWindowsFollow) {
  if (mlockall(MCL_FUTURE) != 0) GTEST_SKIP() << "needs CAP_IPC_LOCK or ulimit -l unlimited";
  munlockall();
  EXPECT_EXIT(
      {
        const Size before = Size::now();
        expect_in_child(mlockall(MCL_FUTURE) == 0, "mlockall works");
        for (int window = 0; window < 100; ++window) {
          expect_in_child(top_up_quiet_memory().ok(), "it reserves");
          quiet_memory().deallocate(quiet_memory().allocate(2048), 2048);
        }
        expect_in_child(Size::now().resident - before.resident < 11 * kMiB, "10 MiB and no more");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(QuietMemoryDeathTest, MakesDoWithOneMebibyteWhereTenCannotBeHad) {
  EXPECT_EXIT(
      {
        const std::size_t before_limit = Size::now().address_space;
        limit_address_space_to(4 * kMiB);
        expect_in_child(top_up_quiet_memory().ok(), "1 MiB can be had");
        expect_in_child(Size::now().address_space - before_limit < 3 * kMiB, "10 MiB could not");
        const std::size_t before = test::allocation_count();
        for (int i = 0; i < 300; ++i) static_cast<void>(quiet_memory().allocate(2048));
        expect_in_child(test::allocation_count() == before, "600 KiB without malloc");
        expect_in_child(top_up_quiet_memory().ok(), "another one");
        for (int i = 0; i < 300; ++i) static_cast<void>(quiet_memory().allocate(2048));
        expect_in_child(test::allocation_count() == before, "600 KiB more without malloc");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(QuietMemoryDeathTest, SaysSoWhereNothingCanBeHad) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs memory of its own";
  EXPECT_EXIT(
      {
        limit_address_space_to(0);
        const Result<void> failed = top_up_quiet_memory();
        expect_in_child(!failed.ok(), "there is nothing");
        expect_in_child(failed.failure().reason.find("1 MiB of memory for the counts") != std::string::npos, "cause");
        expect_in_child(failed.failure().how_to_fix.find("ulimit -v") != std::string::npos, "fix");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace syscost
