// SPDX-License-Identifier: MIT
#pragma once

namespace syscost::session {

/// Prints --syscost_doctor on stdout: what can measure here, and what to do about what cannot. Returns the exit code: 0
/// when a backend works, else 1.
int run_doctor();

}  // namespace syscost::session
