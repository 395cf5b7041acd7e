// SPDX-License-Identifier: MIT
//
// Repaired JSON: what Google Benchmark writes, as JSON.
//
// It prints a counter that is no number as NaN or Infinity, which JSON does not have, and passes the bytes of a name
// on. Neither says anything about the times of the other benchmarks, so one of them must not lose the file.
#pragma once

#include <string>
#include <string_view>

namespace syscost::bench::model {

/// `text` with null for what is no number, and with `\\x9f` in strings for a byte that is not UTF-8 or a control
/// character, as we print it. The rest stays as it is.
std::string repaired_json(std::string_view text);

}  // namespace syscost::bench::model
