// SPDX-License-Identifier: MIT
//
// Tests of Catch2 2 or 3, each with a known number of getppid calls, in a program that knows nothing of syscost.
#define CATCH_CONFIG_MAIN
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#ifdef SYSCOST_TEST_CATCH_AMALGAMATED
#include <catch_amalgamated.hpp>
#elif __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

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
TEST_CASE("Runs its body for each section") {
  call(1);
  SECTION("two") {
    call(2);
  }
  SECTION("four") {
    call(4);
  }
}
TEST_CASE("Runs its body for each value") {
  const int times = GENERATE(1, 2, 3);
  call(times);
}
TEST_CASE("Fails") {
  call(3);
  REQUIRE(sizeof(int) == 1);
}
TEST_CASE("Throws") {
  call(5);
  throw 1;
}
// Runs only if its name is given.
TEST_CASE("Crashes", "[.]") {
  call(6);
  abort();
}
TEST_CASE_METHOD(Fixture, "Has a fixture") {
  call(1);
}
