// SPDX-License-Identifier: MIT
//
// The sizes in the name of a test: `BM_Copy/64`, `BM_Copy/bytes:64/real_time`, `Sizes/Copy.Works/4096`, and in a label:
// `size=4096`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::scale {

/// A number in a name, with its name if it has one.
struct Argument {
  std::string name;  ///< `bytes` of `bytes:64`; else empty.
  std::int64_t value = 0;
};

/// A name taken apart. Between parts[i] and parts[i + 1] stands arguments[i]; the names of arguments stand in the
/// parts, too: {"BM_Copy/bytes:", "/real_time"}.
struct SizedName {
  std::vector<std::string> parts;
  std::vector<Argument> arguments;
};

/// The arguments of a benchmark: the parts of its name that are a number or `name:number`. What Google Benchmark itself
/// appends is none (`iterations:`, `min_time:`, ...), but for `threads:`.
SizedName sized_benchmark(std::string_view name);

/// The parameters of a GoogleTest test: the text after the last `/`, if it is numbers with words before them:
/// `4096`, `n4096`, `n64_m8`, `64_8`.
SizedName sized_test(std::string_view name);

/// `size=4096` or `bytes=4096,threads=2`: the pairs with a number. The parts of the result are empty.
std::vector<Argument> sizes_of_label(std::string_view label);

}  // namespace syscost::bench::scale
