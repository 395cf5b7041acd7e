// SPDX-License-Identifier: MIT
//
// main() of syscost::benchmark_main: Google Benchmark's, with our flags taken out of the command line first.
//
// Because no other code reads this program's arguments, the short forms (--csv, --profile, ...) are free to be ours.
#include <benchmark/benchmark.h>

#include "adapters/benchmark/versions.h"
#include "late/late.h"
#include "syscost/adapter.h"

int main(int argc, char** argv) {
  // Since 1.9.3: times repeat better where addresses do.
  if (benchmark::MaybeReenterWithoutASLR != nullptr) benchmark::MaybeReenterWithoutASLR(argc, argv);
  if (syscost::late::may_be_asked(argc, argv, "--benchmark_") && !syscost::adapter::take_options(&argc, argv)) return 2;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
