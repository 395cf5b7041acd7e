// SPDX-License-Identifier: MIT
//
// A test that looks at what is mapped into its process, as memory checkers and crash reporters do.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <string>

TEST(Maps, ArePrinted) {
  std::ifstream maps("/proc/self/maps");
  int lines = 0;
  for (std::string line; std::getline(maps, line); ++lines) {
    const std::size_t path = line.find_first_of("/[");
    std::cout << "map " << line.substr(line.find(' ') + 1, 4) << ' '
              << (path == std::string::npos ? "" : line.substr(path)) << '\n';
  }
  EXPECT_GT(lines, 0);
}
