// SPDX-License-Identifier: MIT
//
// The bench program. Everything is in cli::run, so that tests call it in-process.
#include <iostream>
#include <string>
#include <vector>

#include "cli/run.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return syscost::bench::cli::run(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
