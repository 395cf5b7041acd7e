// SPDX-License-Identifier: MIT
//
// A test program for the stand-in, which plays the same records into every window; profile_test.py looks at what is
// left.
#include <gtest/gtest.h>
#include <unistd.h>

#include "syscost/gtest.h"

namespace {

TEST(Sum, Tree) {
  static_cast<void>(::getppid());
}

TEST(Sum, Loop) {
  for (auto it : syscost::loop("flush")) {
    static_cast<void>(it);
    static_cast<void>(::getppid());
  }
}

}  // namespace
