// SPDX-License-Identifier: MIT
//
// Which options a command allows that is measured as a whole.
#pragma once

#include "session/options/options.h"

namespace syscost::session {

/// Makes the options those of a process that measures a command from outside, with all processes of it. Refuses those
/// that need a look into these processes.
Result<void> become_outside(Options& all);

}  // namespace syscost::session
