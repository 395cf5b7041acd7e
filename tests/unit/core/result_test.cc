// SPDX-License-Identifier: MIT
#include "os/errors.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace syscost {
namespace {

TEST(Result, HoldsEitherAValueOrAFailure) {
  Result<std::unique_ptr<int>> good(std::make_unique<int>(5));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good.value(), 5);
  Result<std::unique_ptr<int>> bad(Failure{"It broke.", "Mend it."});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.failure().reason, "It broke.");
  EXPECT_EQ(bad.failure().how_to_fix, "Mend it.");
}

TEST(Result, OfVoidIsGoodUnlessItHoldsAFailure) {
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_FALSE(Result<void>(Failure{"a", "b"}).ok());
}

TEST(ErrnoFailure, SaysOperationObjectAndErrno) {
  EXPECT_EQ(errno_failure("open", "/tmp/out.csv", EACCES).reason,
            "Cannot open /tmp/out.csv: Permission denied (EACCES).");
  EXPECT_EQ(errno_failure("map memory", "", ENOMEM).reason, "Cannot map memory: Cannot allocate memory (ENOMEM).");
  EXPECT_EQ(errno_failure("read", "x", 4000).reason, "Cannot read x: Unknown error 4000 (errno_4000).");
}

TEST(ErrnoFailure, KnowsARemedyOfItsOwnForTheUsualErrors) {
  std::string fallback = errno_failure("x", "y", 4000).how_to_fix;
  EXPECT_FALSE(fallback.empty());
  for (int error : {EACCES, EPERM, ENOSPC, EDQUOT, EROFS, ENOENT, ENOTDIR, EISDIR, EMFILE, ENFILE, ENOMEM, EAGAIN,
                    EBUSY, ENOSYS, EIO}) {
    EXPECT_NE(errno_failure("x", "y", error).how_to_fix, fallback) << error;
  }
}

TEST(CheckDeathTest, NamesFileLineAndConditionAndAborts) {
  EXPECT_DEATH(SYSCOST_CHECK(1 + 1 == 3), "result_test\\.cc:[0-9]+: .*1 \\+ 1 == 3.*bug in syscost");
  SYSCOST_CHECK(1 + 1 == 2);
}

}  // namespace
}  // namespace syscost
