// SPDX-License-Identifier: MIT
//
// Ten thousand tests that do nothing, linked with us and without. They show what linking costs without a flag.
#include <gtest/gtest.h>

namespace {

class Empty : public testing::TestWithParam<int> {};

TEST_P(Empty, DoesNothing) {
  SUCCEED();
}

INSTANTIATE_TEST_SUITE_P(Ten, Empty, testing::Range(0, 10'000));

}  // namespace
