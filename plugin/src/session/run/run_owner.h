// SPDX-License-Identifier: MIT
//
// Run owner: the outermost process of the run that this process belongs to.
//
// bench reads the newest run of a file. So programs that belong together must have the same run id: the programs of one
// ctest, the programs that a measured test starts, and the workers of one program. syscost does not pass the id by the
// environment, because the user's program would see the variable. /proc shows which process started which, and which
// processes write the same file.
#pragma once

#include <sys/types.h>

#include <string>

namespace syscost::session {

/// The process that started `pid`, from /proc; 0 if it is unknown.
pid_t parent_of(pid_t pid);

/// The process that started `pid`, if that is ctest; else 0.
pid_t ctest_parent(pid_t pid);

/// The ctest that started `pid`, directly, or through scripts (`cmake -P`, a shell) that did not change SYSCOST_CSV;
/// else 0.
pid_t ctest_ancestor(pid_t pid);

/// The outermost of this process and its ancestors that is measured into the file `csv` (empty: none is), or that runs
/// the same program with the same request, process by process; or the ctest that started that process, if one did.
pid_t run_owner(const std::string& csv);

}  // namespace syscost::session
