// SPDX-License-Identifier: MIT
//
// Finds the files that --syscost_trace and --syscost_sched left: ROOT/RUN/PROGRAM/TEST/trace.pftrace, and sched.csv.
#pragma once

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

}  // namespace syscost::bench::trace
