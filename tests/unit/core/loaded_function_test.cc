// SPDX-License-Identifier: MIT
#include "os/program_files.h"

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

// A program's malloc() may call dlsym() while dlerror() writes: so neither is called.
TEST(LoadedFunction, LeavesTheTextOfAnEarlierFailureToTheProgram) {
  ASSERT_EQ(dlsym(RTLD_DEFAULT, "syscost_has_no_such_function"), nullptr);
  EXPECT_EQ(loaded_function("syscost_has_no_such_function"), nullptr);
  EXPECT_NE(dlerror(), nullptr);
}

}  // namespace
}  // namespace syscost
