// SPDX-License-Identifier: MIT
//
// Asks the clients of marks.h about a call. A new client has a bit in marks.h, and a line in each function of
// clients.cc.
#pragma once

#include "backends/dispatch/stub/call.h"
#include "backends/dispatch/stub/faults.h"

namespace syscost::signal_safe {

/// Before the call, of which `used` and `given` are set. Plan::answered: `result` is set, and no call is made.
/// Plan::common: as if nobody had been asked. Plan::call: with `used`, then tell_clients(). `marks`: of its number.
/// `chosen`: by choose_rule().
Plan ask_clients(const Guard& guard, Call& call, unsigned char marks, const ChosenRule& chosen);

/// After a call of ask_clients() that was made: `result` is set.
void tell_clients(const Guard& guard, Call& call);

}  // namespace syscost::signal_safe
