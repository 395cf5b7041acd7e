// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace syscost::session {

/// --syscost_help: examples, then the table of options.
std::string help_text();
/// Prints it on stdout.
void print_help();

}  // namespace syscost::session
