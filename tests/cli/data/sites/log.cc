// SPDX-License-Identifier: MIT
// The program of tests/cli/data/sites_new.csv: its annotations point at these lines.
#include <fstream>

void open(std::ofstream& log) {
  log.open("log.txt");
}

void batch(std::ofstream& log) {
  for (int i = 0; i < 100; ++i) log << i << std::endl;
}

void close(std::ofstream& log) {
  log.close();
}
