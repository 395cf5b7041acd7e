// SPDX-License-Identifier: MIT
//
// Moves descriptors of ours to high numbers, which the user's own descriptors do not reach.
//
// Tests compare descriptor numbers, count open files and close "3 and up". With ours at high numbers, the user's own
// descriptors get the numbers that they would get without syscost.
#pragma once

namespace syscost {

/// Moves `fd` to a number just below the soft limit (at most 1024), close-on-exec, and closes the old one. Returns the
/// new number, or `fd` itself when no high number is free.
int move_fd_high(int fd);

}  // namespace syscost
