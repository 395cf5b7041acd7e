// SPDX-License-Identifier: MIT
//
// RunFolder: the folder of one contained run, with its temporary and its working directory.
//
// A test may write to what lies in its working directory: make and remove folders, or write over a file. Through a link
// it would change the user's. So a run gets copies, and links only in the place of what is too large to be copied for
// each run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "faults/contained.h"

namespace syscost::bench::faults {

/// --cwd auto copies so much of the working directory, the smallest files first. docs/faults.md names both.
inline constexpr std::uint64_t kMostCopiedBytes = std::uint64_t{64} << 20;
inline constexpr std::size_t kMostCopiedEntries = 1000;

/// What a run's working directory is made of.
struct WorkingPlan {
  enum class Gets { folder, copy, link };
  struct Part {
    std::filesystem::path path;  ///< From the working directory on.
    Gets gets = Gets::copy;
  };
  std::vector<Part> parts;  ///< A folder stands before what lies in it.
};

/// `left_out`: the folder of all runs, which may lie in `ours`.
WorkingPlan plan_working_folder(WorkingFolder kind, const std::filesystem::path& ours,
                                const std::filesystem::path& left_out);

/// Makes `folder`, with a temporary directory in it, and with a working directory if `kind` asks for one. `ours` is the
/// directory in which bench was started. `made` is where the command has to start. Returns what went wrong, or "".
std::string make_working_folder(WorkingFolder kind, const WorkingPlan& plan, const std::filesystem::path& ours,
                                const std::filesystem::path& folder, std::filesystem::path& made);

/// /tmp, or where it leads if it is a link.
std::filesystem::path real_tmp();

}  // namespace syscost::bench::faults
