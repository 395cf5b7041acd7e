// SPDX-License-Identifier: MIT
//
// Conditions that always hold, whatever a fuzzer feeds: if one does not, the fuzzer has found something.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace syscost::fuzz {

/// Ends the program, with `what` on stderr, unless `condition` holds.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace syscost::fuzz
