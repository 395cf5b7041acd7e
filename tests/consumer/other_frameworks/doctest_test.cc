// SPDX-License-Identifier: MIT
//
// A user's tests of doctest that do not know syscost. Their syscalls are known exactly.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

TEST_SUITE("Greeting") {
  TEST_CASE("WritesNineteenTimes") {
    const int sink = open("/dev/null", O_WRONLY);
    for (int i = 0; i < 19; ++i) CHECK(write(sink, "hello", 5) == 5);
    close(sink);
  }
  TEST_CASE("AsksForNothing") {}
}
