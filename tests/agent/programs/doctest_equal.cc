// SPDX-License-Identifier: MIT
//
// Tests of doctest that have one name, or no name, or one name when suite and name are put together; and names of
// characters that no terminal shows.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

/// The calls of the second test "opens".
int calls_of_second() {
  const char* const more = std::getenv("SYSCOST_TEST_CALLS");
  return more != nullptr ? std::atoi(more) : 50;
}

}  // namespace

TEST_CASE("opens") {
  call(5);
}
TEST_CASE("opens") {
  call(calls_of_second());
}
TEST_CASE("opens#2") {
  call(7);
}
TEST_SUITE("a.b") {
  TEST_CASE("c") {
    call(1);
    SUBCASE("one") {
      call(1);
    }
    SUBCASE("two") {
      call(1);
    }
  }
}
TEST_SUITE("a") {
  TEST_CASE("b.c") {
    call(9);
  }
}
TEST_CASE("") {
  call(2);
}
TEST_CASE("") {
  call(3);
}
// Where all of these were unnamed, tests would be told apart by their order.
TEST_CASE("save\tfile") {
  call(11);
}
TEST_CASE("load\tfile") {
  call(12);
}
TEST_SUITE("one\r\n") {
  TEST_CASE("\x1b[1mbold") {
    call(13);
  }
}
TEST_SUITE("two\r\n") {
  TEST_CASE("\x1b[1mbold") {
    call(14);
  }
}
TEST_CASE("caf\xe9") {
  call(15);
}
