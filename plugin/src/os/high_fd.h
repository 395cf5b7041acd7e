// SPDX-License-Identifier: MIT
//
// File descriptors that stay out of the user's way.
//
// Tests compare descriptor numbers, count open files and close "3 and up". What syscost keeps open sits at high
// numbers, so that the user's own descriptors get the numbers they would get without us.
#pragma once

namespace syscost {

/// Moves `fd` to a number just below the soft limit (at most 1024), close-on-exec, and closes the old one. Returns the
/// new number, or `fd` itself when no high number is free.
int move_fd_high(int fd);

}  // namespace syscost
