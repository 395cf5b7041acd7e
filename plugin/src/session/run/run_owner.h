// SPDX-License-Identifier: MIT
//
// Run owner: the process that owns the run of this process.
//
// bench reads the newest run of a file. Programs that belong together must therefore say the same run: those of one
// ctest, and those that a test starts while it is measured itself. The environment is not used for that, because the
// user's program would see it. /proc shows which process started which, and which processes write the same file.
#pragma once

#include <sys/types.h>

#include <string>

namespace syscost::session {

/// The process that started `pid`, from /proc; 0 when it cannot be found out.
pid_t parent_of(pid_t pid);

/// The process that started `pid`, when it is ctest; else 0.
pid_t ctest_parent(pid_t pid);

/// The ctest that started `pid`, by itself, or through scripts (`cmake -P`, a shell) where it was given our
/// SYSCOST_CSV; else 0.
pid_t ctest_above(pid_t pid);

/// Of this process and those it descends from, the outermost that is measured into the file `csv` (empty: none is), or
/// the ctest that it descends from.
pid_t run_owner(const std::string& csv);

}  // namespace syscost::session
