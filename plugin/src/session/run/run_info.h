// SPDX-License-Identifier: MIT
//
// Run info: the columns that say which run a row belongs to, on which machine and in which surroundings, and of which
// commit and build.
//
// Two CSVs can be compared honestly only if each row names what it measured. The programs of one run have one run id,
// which comes from the run's outermost process. A counting process gets it by a variable.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "csv/sink.h"
#include "csv/window_rows.h"
#include "session/options/options.h"

namespace syscost::session {

/// Reads all columns now, except `backend` and `selection`. `build_type` is that of the framework's adapter, or empty.
/// syscost reads these values once, before the first window, from files and memory; it runs no program. Unknown values
/// stay empty.
csv::RunColumns read_run_info(const Options& options, std::string_view build_type);

/// True if the CSV at `path` has rows of this process's program and run: of workers that it forked, for one.
bool has_rows_of_this_program(const std::string& path, const Options& options);

/// The first line of a run, for people: `backend ebpf (131 ns added per call while counting), csv FILE, run
/// ID`. `how` follows the backend's name; `csv` is empty if no file is written.
std::string header_line(const csv::RunColumns& run, const std::string& how, const std::string& csv);

/// `path` as an absolute path. Under ctest, a relative path from the environment starts in the folder of the tests that
/// ctest runs, because each test may have another working directory and one variable serves all tests. Every other
/// relative path starts in the working directory. Fails if the folder of the tests cannot be found.
Result<std::string> resolve_path(const std::string& path, Source source);

/// Returns the lifetime of the CSV at the absolute path `path`: temporary if `bench run` made it.
csv::Lifetime lifetime_of_csv(const std::string& path);

/// True if both paths name one regular file, through links too, and also if it does not exist yet. False for other
/// kinds of files, like /dev/null.
bool are_one_file(const std::string& one, const std::string& other);

// The run's id comes from its owner: the outermost process of the run that this process belongs to.
//
// bench reads the newest run of a file. So programs that belong together must have the same run id: the programs of one
// ctest, the programs that a measured test starts, and the workers of one program. syscost does not pass the id by the
// environment, because the user's program would see the variable. /proc shows which process started which, and which
// processes write the same file.

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

/// NAME=VALUE, for a counting process with tools: the id of the run that it belongs to, and the folder for the tools'
/// files.
std::vector<std::string> counting_variables(const std::string& run_id, const std::string& artifacts);
/// Reads them into `options`, in the counting process.
void take_counting_variables(Options& options);

// The commit under test, for column `commit`.
//
// It comes from the CI system's variables, else from the repository around the working directory. syscost reads the
// repository's files itself, because git may not be installed where tests run. So it does not know whether the tree has
// uncommitted changes.
//
// In a folder that several users share, the repository may be a stranger's, made to show a file of ours in the column.
// So we read a repository only where git would: it belongs to this user, to root, or to who started `sudo`. We are
// stricter in one thing: not everyone can write to it. As for git, its group may. Names in it lead to files below it,
// through no link, and the column gets nothing but a hash.

struct FoundCommit {
  std::string hash;
  std::string why_not;  ///< `/tmp/.git belongs to another user (id 17)`: why a repository was not read; else "".
};

/// The commit's hash, if there is one.
FoundCommit find_commit();

/// The commit checked out in the repository that holds `folder` (absolute), if there is one.
FoundCommit commit_of_repository(std::string folder);

// Surroundings: libc, processors, limits, locale, ...: parts of the environment that may change a program's counts.
//
// Two runs are rarely from one machine and one shell. If their counts differ, the reader must know what else differs
// besides the code. So each program's run has one row with its surroundings (docs/csv-format.md).

/// Names, which are part of the CSV's format, and values. A name without a known value is left out.
using Surroundings = std::vector<std::pair<std::string, std::string>>;

/// Reads them now. Makes a few syscalls.
Surroundings read_surroundings();

/// Which part of the tests this process runs: "2 of 4" for GTEST_SHARD_INDEX=1 and GTEST_TOTAL_SHARDS=4 of GoogleTest,
/// and for `--shard-index 1 --shard-count 4` of Catch2 in `arguments`. "" for another framework, and without shards.
std::string shard_of(std::string_view framework, const std::vector<std::string>& arguments);

/// `name=value;name=value`. A value's own semicolons are commas; a long one is cut, and its length added.
std::string to_text(const Surroundings& surroundings);

/// The file names in an LD_PRELOAD: "a.so:b.so" for "/x/a.so /y/b.so".
std::string file_names_of(std::string_view libraries);

/// "4 KiB" for 2049 to 4096 bytes: the size of the environment differs from shell to shell, and single bytes do not
/// matter.
std::string size_class(std::uint64_t bytes);

/// How many folders lie between the root and the absolute path `folder`: 0 for "/", 2 for "/a/b".
std::uint64_t depth_of(const std::string& folder);

}  // namespace syscost::session
