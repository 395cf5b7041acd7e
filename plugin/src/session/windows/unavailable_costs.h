// SPDX-License-Identifier: MIT
//
// Costs without numbers, each with its reason. They are made once and copied inside windows, because making one there
// would allocate.
#pragma once

#include "syscost/cost.h"

namespace syscost::session::unavailable_cost {

/// The Cost of a Scope before stop().
inline const Cost& pending() {
  static const Cost cost(Unavailable{"The scope has not been stopped yet.", "Call stop() first."});
  return cost;
}
inline const Cost& timed_pass() {
  static const Cost cost(
      Unavailable{"This is a timed pass of a syscost::loop, and this thread cannot attach the backend.",
                  "Measure on the loop's thread, or outside the loop.", /*is_beyond_backend=*/false,
                  /*comes_later=*/true});
  return cost;
}
inline const Cost& fork_child() {
  static const Cost cost(Unavailable{"This is a fork child of the process that measures.", "Measure in the parent."});
  return cost;
}

}  // namespace syscost::session::unavailable_cost
