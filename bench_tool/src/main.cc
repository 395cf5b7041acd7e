// SPDX-License-Identifier: MIT
//
// The bench program. Everything is in bench_main, so that tests call it in-process.
#include <iostream>
#include <string>
#include <vector>

#include "bench.h"
#include "os/descriptors.h"
#include "os/signals.h"

int main(int argc, char** argv) {
  syscost::fill_standard_descriptors();
  syscost::survive_size_limit();
  std::ios::sync_with_stdio(false);
  return syscost::bench::bench_main(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
