// SPDX-License-Identifier: MIT
//
// How processes ended that the program has waited for. For `bench run`, and for the sweeps of `bench faults`.
//
// The kernel gives a status once, to the one that waits, and often it is dropped. So the functions of libc by which a
// program waits stand here, in front of libc's own. `bench run` learns how a program with tests ended: a crash before
// its tests began, or after they ended, leaves no row. Each end is a line in the notes of the run (passing_on.h). In a
// sweep, a child that crashes because a call failed is not the test's own crash: signals are added up in memory that
// the watcher of the run reads. Not seen: a child that no one waits for by these functions, such as that of `system`.
#pragma once

namespace syscost::agent {

/// Maps the file of kChildEndsVariable at `path`, before main(). Nothing is counted where that fails.
void count_child_ends(const char* path);

}  // namespace syscost::agent
