// SPDX-License-Identifier: MIT
#include "core/per_run_part.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <memory>

namespace syscost {
namespace {

constexpr SyscallId kOpenat{Abi::x86_64, SYS_openat};
constexpr SyscallId kCall{Abi::x86_64, SYS_write};

/// Passes of a body that opens `opens` files in its first iteration, one of which is not there, and writes in each.
class PerRunPartTest : public ::testing::Test {
 protected:
  void add_pass(std::uint64_t iterations, std::uint64_t opens) {
    costs_.push_back(std::make_unique<detail::CostData>(std::pmr::new_delete_resource()));
    detail::CostData& cost = *costs_.back();
    Tally& openat = cost.table.at(kOpenat);
    openat.entries = openat.calls = opens;
    openat.errors.add(ENOENT, 1);
    Tally& write = cost.table.at(kCall);
    write.entries = write.calls = iterations;
    passes_.push_back({iterations, &cost});
  }

  std::vector<std::unique_ptr<detail::CostData>> costs_;
  std::vector<CountedPass> passes_;
};

TEST_F(PerRunPartTest, IsWhatDoesNotGrowWithThePass) {
  for (const std::uint64_t iterations : {10, 100, 1000}) add_pass(iterations, 3);
  const PerRunParts parts = per_run_parts(passes_);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts.at(kOpenat).calls, 3U);
  EXPECT_EQ(parts.at(kOpenat).errors, (std::map<int, std::uint64_t>{{ENOENT, 1}}));
  EXPECT_EQ(parts.at(kCall).calls, 0U);
  EXPECT_EQ(parts.at(kCall).errors, (std::map<int, std::uint64_t>{}));
}

TEST_F(PerRunPartTest, IsToldOfTheProgramsBelowToo) {
  for (const std::uint64_t iterations : {10, 100}) {
    add_pass(iterations, 3);
    costs_.back()->programs.at("gzip").at(kCall).calls = 4 * iterations;
  }
  costs_.back()->programs.at("once").at(kOpenat).calls = 2;
  costs_.front()->programs.at("once").at(kOpenat).calls = 2;
  const ProgramPerRunParts parts = program_per_run_parts(passes_);
  EXPECT_EQ(parts.at("gzip").at(kCall).calls, 0U);
  EXPECT_EQ(parts.at("once").at(kOpenat).calls, 2U);
}

TEST_F(PerRunPartTest, IsUnknownWithOneLength) {
  add_pass(1000, 3);
  EXPECT_TRUE(per_run_parts(passes_).empty());
  add_pass(1000, 3);
  EXPECT_TRUE(per_run_parts(passes_).empty());
}

TEST_F(PerRunPartTest, IsUnknownIfTheCountsOfASyscallLieOnNoLine) {
  add_pass(10, 3);
  add_pass(100, 90);
  add_pass(1000, 7);
  const PerRunParts parts = per_run_parts(passes_);
  EXPECT_EQ(parts.count(kOpenat), 0U);
  EXPECT_EQ(parts.count(kCall), 1U);
}

TEST_F(PerRunPartTest, IsUnknownWhereEventsWereLost) {
  for (const std::uint64_t iterations : {10, 100, 1000}) add_pass(iterations, 3);
  costs_.front()->lost = 1;
  EXPECT_TRUE(per_run_parts(passes_).empty());
}

TEST_F(PerRunPartTest, IsOfEntriesWhereThereAreNoCalls) {
  for (const std::uint64_t iterations : {10, 100}) {
    add_pass(iterations, 3);
    costs_.back()->measured.calls = costs_.back()->measured.errors = false;
    costs_.back()->table.at(kOpenat).calls = 0;
  }
  const PerRunParts parts = per_run_parts(passes_);
  EXPECT_EQ(parts.at(kOpenat).calls, 3U);
  EXPECT_FALSE(parts.at(kOpenat).errors.has_value());
}

}  // namespace
}  // namespace syscost
