// SPDX-License-Identifier: MIT
//
// main() of syscost::gtest_main: GoogleTest's, with our flags taken out of the command line first.
//
// Because no other code reads this program's arguments, the short forms (--csv, --profile, ...) are free to be ours.
#include <gtest/gtest.h>

#include "syscost/adapter.h"

int main(int argc, char** argv) {
  if (!syscost::adapter::take_options(&argc, argv)) return 2;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
