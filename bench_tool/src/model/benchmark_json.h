// SPDX-License-Identifier: MIT
//
// Google Benchmark's own JSON (--benchmark_out): the times of benchmarks that are not linked with us.
//
// So times can be compared before anything is linked, and a linked benchmark with an unlinked one. Each repetition is a
// sample; aggregates are left out, because bench forms its own. Google Benchmark writes some texts that are no JSON;
// repaired_json() makes JSON of them.
#pragma once

#include <string>
#include <string_view>

#include "csv/input.h"
#include "csv/problems.h"

namespace syscost::bench::model {

class Collector;

/// Reads the open `input` into `into`. Notes in `problems` each part that it cannot use.
void load_benchmark_json(csv::Input& input, Collector& into, csv::Problems& problems);

/// `text` with null for what is no number, and with `\\x9f` in strings for a byte that is not UTF-8 or a control
/// character, as we print it. The rest stays as it is.
///
/// Google Benchmark prints a counter that is no number as NaN or Infinity, which JSON does not have, and passes the
/// bytes of a name on. Neither says anything about the times of the other benchmarks, so one of them must not lose the
/// file.
std::string repaired_json(std::string_view text);

}  // namespace syscost::bench::model
