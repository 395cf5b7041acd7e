// SPDX-License-Identifier: MIT
//
// Detects the kind of a RUN's file by its content, because a name proves nothing.
#pragma once

#include "csv/input.h"

namespace syscost::bench::csv {

/// True for an open input that begins with `{`.
bool is_json(Input& input);

/// True for one that begins as --benchmark_out writes it.
bool is_benchmark_json(Input& input);

}  // namespace syscost::bench::csv
