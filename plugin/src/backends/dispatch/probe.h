// SPDX-License-Identifier: MIT
//
// Finds out, in a child, whether dispatching works here. A failure would kill the process that tries it.
#pragma once

#include "os/result.h"

namespace syscost::dispatch {

/// What the machine and the calling thread must have; no attempt is made.
Result<void> check_requirements();

/// A forked child arms itself and makes 64 known calls, of which the stub must count exactly 64. The child sends no
/// SIGCHLD and is reaped here.
Result<void> try_in_child();

}  // namespace syscost::dispatch
