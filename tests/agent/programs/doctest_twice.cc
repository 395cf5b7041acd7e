// SPDX-License-Identifier: MIT
//
// Two runs of doctest in one process. The test starts the program of the variable PROGRAM.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

TEST_CASE("starts") {
  CHECK(std::system(std::getenv("PROGRAM")) == 0);
}

int main(int argc, char** argv) {
  int result = 0;
  for (int run = 0; run < 2; ++run) {
    doctest::Context context(argc, argv);
    result |= context.run();
  }
  return result;
}
