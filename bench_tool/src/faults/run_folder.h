// SPDX-License-Identifier: MIT
//
// RunFolder: the folder of one contained run, with its temporary and its working directory; FolderScan: what lies in a
// folder of the user's, so that a run gets copies of it and its changes are seen.
//
// A test may write to what lies in its working directory. Through a link it would change the user's. So a run gets
// copies, and links only in the place of what is too large to be copied for each run.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faults/contained.h"

namespace syscost::bench::faults {

/// The entries of a folder, by names and by what the kernel says of each.
///
/// It reads no contents, so a folder with gigabytes takes no longer than one with small files. A file that was written
/// to has another time of its last change of status (st_ctime), which no program can set back.
struct FolderScan {
  /// By the path from the folder on: a folder stands before what lies in it.
  std::map<std::filesystem::path, struct stat> entries;
  bool is_whole = true;  ///< False: there were more entries than were asked for.
};

/// A file by its device and number.
using FileId = std::pair<dev_t, ino_t>;

/// More entries are not looked at: `bench faults` in `/` would look at the whole machine.
inline constexpr std::size_t kMostScanned = 500'000;

/// At most `most` entries, without those of folders that cannot be read. `left_out`: neither they nor what lies in them
/// is in the result.
FolderScan scan_folder(const std::filesystem::path& folder, std::size_t most, const std::vector<FileId>& left_out);

/// `made: PATH`, `changed: PATH`, `removed: PATH`, in the order of the paths. Entries below a folder that was made or
/// removed are not named. The times of folders are not compared: to make a file and remove it changes them.
std::vector<std::string> differences(const FolderScan& before, const FolderScan& after);

/// The files that this process or another one has open for writing. Those of processes of other users are not known.
std::set<FileId> files_open_for_writing();

/// Takes the paths that are one of `files` in `after` out of both.
void leave_out(const std::set<FileId>& files, FolderScan& before, FolderScan& after);

/// `lines` without those of paths that `known` names, too, or that lie in a folder that it says was made or removed.
/// Names that were made may have other digits: `made: run-12.log` knows `made: run-7.log`.
std::vector<std::string> without_known(std::vector<std::string> lines, const std::vector<std::string>& known);

/// --cwd auto copies so much of the working directory, the smallest files first. docs/faults.md names both.
inline constexpr std::uint64_t kMostCopiedBytes = std::uint64_t{64} << 20;
inline constexpr std::size_t kMostCopiedEntries = 1000;

/// The parts of a run's working directory.
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
