// SPDX-License-Identifier: MIT
//
// The options of a process that measures a command as a whole.
#pragma once

#include "session/options/options.h"

namespace syscost::session {

/// Turns on counting of children, because all processes of the command count. Refuses what needs a look into them.
Result<void> prepare_for_command(Options& all);

}  // namespace syscost::session
