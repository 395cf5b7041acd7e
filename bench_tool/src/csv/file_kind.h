// SPDX-License-Identifier: MIT
//
// Detects the kind of a RUN's file by its content, because a name proves nothing.
#pragma once

#include "csv/input.h"

namespace syscost::bench::csv {

/// True for an open input that begins with `{`, after white space or a byte order mark.
bool is_json(Input& input);

/// What an open input has to do with Google Benchmark.
enum class BenchmarkJson {
  no,
  yes,      ///< An object with its two keys: other tools put them in another order, or white space between.
  unknown,  ///< It begins as an object, and ends before it could be told.
};
BenchmarkJson benchmark_json(Input& input);

}  // namespace syscost::bench::csv
