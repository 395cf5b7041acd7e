// SPDX-License-Identifier: MIT
//
// Skips all tests of a program where the processor, or a virtual machine that hides it, has no FSGSBASE. It asks the
// kernel itself: what the backend says of itself is under test.
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <cstdio>

namespace syscost::dispatch {
namespace {

class Processor : public testing::Environment {
 public:
  void SetUp() override {
    constexpr unsigned long kHasFsgsbase = 2;  // HWCAP2_FSGSBASE
    if ((getauxval(AT_HWCAP2) & kHasFsgsbase) != 0) return;
    std::puts(
        "[  SKIPPED ] all tests");  // for CTest: of tests that an environment skips, GoogleTest says that they pass
    GTEST_SKIP() << "needs the FSGSBASE instructions";
  }
};

[[maybe_unused]] const testing::Environment* const kProcessor = testing::AddGlobalTestEnvironment(new Processor);

}  // namespace
}  // namespace syscost::dispatch
