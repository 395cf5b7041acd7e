// SPDX-License-Identifier: MIT
//
// Finds out in a child if dispatching works here. A failure would kill the process that tries it.
#pragma once

#include "os/result.h"

namespace syscost::dispatch {

/// Checks the machine and the calling thread; fails if a requirement is missing. It tries nothing.
Result<void> check_requirements();

/// A forked child arms itself and makes 64 known calls, of which the stub must count exactly 64. The child sends no
/// SIGCHLD and is reaped here.
Result<void> try_in_child();

}  // namespace syscost::dispatch
