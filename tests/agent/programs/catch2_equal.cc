// SPDX-License-Identifier: MIT
//
// Tests of Catch2 3 that have one name: with other tags, or another fixture. Version 2 allows none.
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

struct File {};
struct Socket {};

}  // namespace

TEST_CASE("opens", "[file]") {
  call(5);
}
TEST_CASE("opens", "[net]") {
  call(50);
}
TEST_CASE_METHOD(File, "closes") {
  call(1);
  SECTION("one") {
    call(1);
  }
  SECTION("two") {
    call(1);
  }
}
TEST_CASE_METHOD(Socket, "closes") {
  call(9);
}
