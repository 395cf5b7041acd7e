// SPDX-License-Identifier: MIT
//
// Scopes: syscost::Scope, from its opening to its numbers, or to the reason why it has none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session/windows/measurement.h"
#include "syscost/cost.h"
#include "syscost/syscost.h"

namespace syscost::session {

/// A scope opens and closes inside windows, on any thread. Doing so neither allocates with malloc nor enters the
/// kernel; its row waits until no window is open.
class Scopes {
 public:
  /// `attach_backend`: the backend is off for a loop's timed passes, and a scope opens. False when it stays off.
  Scopes(Measurement& shared, std::function<bool()> attach_backend)
      : shared_(shared), attach_backend_(std::move(attach_backend)) {}

  /// Opens a scope and returns it; null if it cannot count, with the reason in `cost`. Any thread.
  ScopeRecord* open(std::string_view name, Reach reach, Cost& cost);
  Cost close(ScopeRecord* scope);

 private:
  Measurement& shared_;
  std::function<bool()> attach_backend_;
};

}  // namespace syscost::session

// Costs without numbers, each with its reason. They are made once and copied inside windows, because making one there
// would allocate.

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
