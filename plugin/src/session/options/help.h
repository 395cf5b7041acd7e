// SPDX-License-Identifier: MIT
#pragma once

namespace syscost::session {

/// Prints --syscost_help on stdout: the flags, by example.
void print_help();

}  // namespace syscost::session
