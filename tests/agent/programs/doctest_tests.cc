// SPDX-License-Identifier: MIT
//
// Tests of doctest, each with a known number of getppid calls, in a program that knows nothing of syscost.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

struct Fixture {
  Fixture() { call(10); }
  ~Fixture() { call(20); }
};

}  // namespace

TEST_CASE("Makes no call") {}
TEST_CASE("Makes seven calls") {
  call(7);
}
TEST_CASE("Has\ta\nname") {
  call(8);
}
TEST_CASE("Runs its body for each section") {
  call(1);
  SUBCASE("two") {
    call(2);
  }
  SUBCASE("four") {
    call(4);
  }
}
TEST_CASE("Fails") {
  call(3);
  REQUIRE(sizeof(int) == 1);
}
TEST_CASE("Fails as it should" * doctest::should_fail()) {
  call(3);
  REQUIRE(sizeof(int) == 1);
}
TEST_CASE("Throws") {
  call(5);
  throw 1;
}
// Runs only with --no-skip.
TEST_CASE("Crashes" * doctest::skip()) {
  call(6);
  abort();
}
TEST_CASE_FIXTURE(Fixture, "Has a fixture") {
  call(1);
}
TEST_SUITE("storage") {
  TEST_CASE("Is in a suite") {
    call(9);
  }
}
