// SPDX-License-Identifier: MIT
#include "adapters/gtest/versions.h"

// GoogleTest says its version nowhere. A function of its flags has one name up to 1.11 and another from 1.12 on, where
// listeners got an event more. Earlier differences do not link. Weak: only one of the two is there, or none.
// NOLINTBEGIN(readability-identifier-naming): the linker's names
__attribute__((weak)) void syscost_gtest_of_1_11() __asm__("_ZN7testing8internal14ParseInt32FlagEPKcS2_Pi");
__attribute__((weak)) void syscost_gtest_of_1_12() __asm__("_ZN7testing8internal9ParseFlagEPKcS2_Pi");
// NOLINTEND(readability-identifier-naming)

namespace syscost::gtest_adapter {

bool is_other_than_headers() {
  if (kHearsOfDisabled<testing::EmptyTestEventListener>) return syscost_gtest_of_1_11 != nullptr;
  return syscost_gtest_of_1_12 != nullptr;
}

}  // namespace syscost::gtest_adapter
