// SPDX-License-Identifier: MIT
#pragma once

namespace syscost::session {

/// Prints --syscost_doctor on stdout: which backends work on this machine, and for each other one the reason and the
/// remedy. Returns the exit code: 0 if a backend works, else 1.
int run_doctor();

}  // namespace syscost::session
