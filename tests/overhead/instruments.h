// SPDX-License-Identifier: MIT
//
// The instruments that are compared, and what each of them adds to one call.
#pragma once

#include <string>
#include <vector>

namespace overhead {

/// One run of the worker: medians of the time of one call.
struct Sample {
  double getppid_ns = 0;
  double write_ns = 0;
  // The number that the instrument itself reports; 0 = it reports none.
  double seen_getppid_ns = 0;
  double seen_write_ns = 0;
};

struct Instrument {
  const char* name;
  const char* tool;  // that must be installed; null = none
  Sample (*run)();
  std::vector<Sample> added;  // per round, against that round's bare run
  std::string failure;
};

/// Every instrument that is compared, in the order of the report. The first one is the empty pair.
std::vector<Instrument> instruments();

/// Runs the worker bare, then under each instrument. `round` rotates their order. An instrument that is missing or
/// fails gets its `failure`, and does not run in later rounds.
void run_round(int round, std::vector<Instrument>& all, std::vector<Sample>& bare_samples);

}  // namespace overhead
