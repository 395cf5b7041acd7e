// SPDX-License-Identifier: MIT
//
// Which signals ended processes that the program has waited for. For the sweeps of `bench faults`.
//
// A child that crashes because a call failed is not the test's own crash: the parent gets its status, and often drops
// it. The kernel gives a status once, to the one that waits. So the functions of libc by which a program waits stand
// here, in front of libc's own, and add up signals in memory that the watcher of the run reads. Elsewhere they only
// call libc's. Not seen: a child that no one waits for by these functions, such as a child of a shell.
#pragma once

namespace syscost::agent {

/// Maps the file of kChildEndsVariable at `path`, before main(). Nothing is counted where that fails.
void count_child_ends(const char* path);

}  // namespace syscost::agent
