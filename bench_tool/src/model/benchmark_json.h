// SPDX-License-Identifier: MIT
//
// Google Benchmark's own JSON (--benchmark_out): the times of benchmarks that are not linked with us.
//
// So that times can be compared before anything is linked, and a linked benchmark with an unlinked one. Each repetition
// is a sample; aggregates are left out, because bench forms its own.
#pragma once

#include "csv/input.h"
#include "csv/problems.h"

namespace syscost::bench::model {

class Collector;

/// Reads the open `input` into `into`. What cannot be used is noted in `problems`.
void load_benchmark_json(csv::Input& input, Collector& into, csv::Problems& problems);

}  // namespace syscost::bench::model
