// SPDX-License-Identifier: MIT
//
// artifacts: finds the files that --syscost_trace and --syscost_sched left, and reads their bytes with care.
//
// They are ROOT/RUN/PROGRAM/TEST/trace.pftrace, and sched.csv. Folders of artifacts come from CI jobs and from other
// people. A name in them may be a pipe, a device or a link to one, and reading that may never end; a file with a hole
// may claim any size.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"

namespace syscost::bench::trace {

inline constexpr const char* kTraceName = "trace.pftrace";
/// The folder of artifacts, if --syscost_artifacts names none.
inline constexpr const char* kArtifacts = "syscost_artifacts";

/// A trace by its path. The names are those of its folders, in which some characters of the test's name are `_`.
struct FoundTrace {
  std::string path;
  std::string test;
  std::string run;  ///< The path of the run's folder.
};

/// All files called `name` in `folder` and below it. If `run_ids` is not empty, only those of these runs. Follows no
/// links, except what the plugin would write through: `folder` itself, if the user, or root, has made the link, or has
/// named the folder otherwise than kArtifacts.
std::vector<FoundTrace> find_traces(const std::string& folder, std::string_view name,
                                    const std::set<std::string>& run_ids, csv::Problems& problems);

/// Those of the run that wrote last.
std::vector<FoundTrace> of_newest_run(std::vector<FoundTrace> traces);

/// Those in the folders that a window called `name` has: the plugin adds `~2`, `~3` where one is there already.
std::vector<FoundTrace> in_folder_of(const std::vector<FoundTrace>& traces, const std::string& name);

/// Those of the test `asked`, or, if there are none, of tests with `asked` in their names.
std::vector<FoundTrace> of_test(const std::vector<FoundTrace>& traces, const std::string& asked);

/// No larger file is read into memory. A trace of 65536 events, the default, takes 7 MiB at most.
inline constexpr std::uint64_t kMostArtifactBytes = std::uint64_t{1} << 30;

/// Notes in `problems` why there are none: the file cannot be read, is no regular file, or is too large.
std::optional<std::vector<char>> artifact_bytes(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::trace
