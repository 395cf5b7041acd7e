// SPDX-License-Identifier: MIT
//
// Calls that need care: special.cc adapts those that would notice or undo our watching, and asks the clients of call.h
// about a call before and after it is made.
#pragma once

#include "backends/dispatch/stub/common/call.h"
#include "extras/faults/stub/rules.h"

namespace syscost::signal_safe {

/// Ends a call that has just come back, with its result in place, from a handler that interrupted the thread right
/// there. False, and nothing done, where only the thread itself can: in a child, or where it may wait once more.
bool finish_in_handler(const Guard& guard, Call& call, std::uint64_t now);

// A new client has a bit in call.h, and a line in each of these functions.

/// Asked before a call that has its mark; told after the call if it has set its bit in `adapted`.
struct Client {
  void (*ask)(const Guard& guard, Call& call);
  void (*tell)(const Guard& guard, const Call& call);
};
/// That of kMarkedByFiles, to be set before its first mark and left: a thread may be about to call it. Atomically.
extern const Client* file_client;

/// Before the call, of which `used` and `given` are set. Plan::answered: `result` is set, and no call is made.
/// Plan::common: as if no one had been asked. Plan::call: with `used`, then tell_clients(). `marks`: of its number.
/// `chosen`: by choose_rule().
Plan ask_clients(const Guard& guard, Call& call, unsigned char marks, const ChosenRule& chosen);

/// After a call of ask_clients() that was made: `result` is set.
void tell_clients(const Guard& guard, Call& call);

}  // namespace syscost::signal_safe
