// SPDX-License-Identifier: MIT
//
// Scopes: syscost::Scope, from its opening to its numbers.
//
// A scope opens and closes inside windows, on any thread. Doing so neither allocates with malloc nor enters the kernel;
// its row waits until no window is open.
#pragma once

#include <string_view>

#include "session/windows/measurement.h"
#include "session/windows/row_writer.h"
#include "syscost/syscost.h"

namespace syscost::session {

class Scopes {
 public:
  Scopes(Measurement& shared, RowWriter& rows) : shared_(shared), rows_(rows) {}

  /// Opens a scope and returns it; null if it cannot count, with the reason in `cost`. Any thread.
  ScopeRecord* open(std::string_view name, Reach reach, Cost& cost);
  Cost close(ScopeRecord* scope);

 private:
  Measurement& shared_;
  RowWriter& rows_;
};

}  // namespace syscost::session
