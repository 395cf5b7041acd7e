// SPDX-License-Identifier: MIT
//
// main() of syscost::gtest_main: GoogleTest's, with our flags taken out of the command line first.
//
// Because no other code reads this program's arguments, the short forms (--csv, --profile, ...) are free to be ours.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "late/late.h"
#include "libc/symbols.h"
#include "syscost/adapter.h"

int main(int argc, char** argv) {
  if (syscost::late::may_be_asked(argc, argv, "--gtest_") && !syscost::adapter::take_options(&argc, argv)) return 2;
  // Those below are GoogleTest's own; ours would otherwise go unmentioned.
  if (argc > 1 && SYSCOST_LIBC(strcmp)(argv[1], "--help") == 0) {
    SYSCOST_LIBC(puts)
    ("This program is linked with syscost: --syscost_help shows its flags (--csv, --profile, ...).\n");
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
