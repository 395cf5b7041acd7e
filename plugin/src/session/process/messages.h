// SPDX-License-Identifier: MIT
//
// Messages to the user: on stderr, so that a test's own output and `--gtest_list_tests` stay parseable. Where that is
// not the program's any more, on stdout (os/message_output.h).
#pragma once

#include <string_view>

#include "os/errors.h"

namespace syscost::session {

/// Prints `syscost: TEXT`, one line.
void say(std::string_view text);

/// The same for a line that says how this program is measured: see write_start_message().
void say_start(std::string_view text);

/// Prints cause and fix, on two lines.
void say_failure(const Failure& failure);

/// Prints cause and fix, and ends the program with exit code 2: syscost cannot do what the user requested.
[[noreturn]] void refuse(const Failure& failure);
/// True while the program ends for that reason.
bool has_refused();

}  // namespace syscost::session
