// SPDX-License-Identifier: MIT
#include "os/loaded_function.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace syscost {
namespace {

TEST(LoadedFunction, IsTheOneThatDlsymFinds) {
  EXPECT_NE(loaded_function("getppid"), nullptr);
  EXPECT_EQ(loaded_function("getppid"), dlsym(RTLD_DEFAULT, "getppid"));
}

TEST(LoadedFunction, LeavesNoTextOfAFailureInTheHeap) {
  EXPECT_EQ(loaded_function("syscost_has_no_such_function"), nullptr);
  EXPECT_EQ(dlerror(), nullptr);
}

}  // namespace
}  // namespace syscost
