// SPDX-License-Identifier: MIT
//
// What syscost says to people: on stderr, so that a test's own output and `--gtest_list_tests` stay parseable.
#pragma once

#include <string_view>

#include "os/result.h"

namespace syscost::session {

/// Prints `syscost: TEXT`, one line.
void say(std::string_view text);

/// Prints cause and fix, on two lines.
void say_failure(const Failure& failure);

/// Prints cause and fix and ends the program with exit code 2: what was asked for cannot be had.
[[noreturn]] void refuse(const Failure& failure);

}  // namespace syscost::session
