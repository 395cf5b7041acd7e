// SPDX-License-Identifier: MIT
//
// Whether dispatching works here, found out by a child: what goes wrong is fatal for whoever tries it.
#pragma once

#include "os/result.h"

namespace syscost::dispatch {

/// What the machine and the calling thread must have; no attempt is made.
Result<void> check_requirements();

/// A forked child arms itself and makes 64 known calls, of which the stub must count exactly 64. The child sends no
/// SIGCHLD and is reaped here.
Result<void> try_in_child();

}  // namespace syscost::dispatch
