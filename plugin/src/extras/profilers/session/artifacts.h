// SPDX-License-Identifier: MIT
//
// Artifacts: the folder for the files of tools beside us, with a folder for each window.
//
//     ROOT/RUN/PROGRAM/Suite.Test/syslat.txt
//     ROOT/RUN/PROGRAM/Suite.Test/loop flush/syslat.txt
//
// Programs of one ctest share a run, a test may run twice, and you may start a program while it is still running. So
// syscost never overwrites a file. If a folder exists already, the next one is `Suite.Test~2`.
//
// Other users may be able to write to ROOT, or to the folder around it, as to /tmp/syscost_artifacts, and could place a
// link there that leads our files elsewhere. So we follow no link below ROOT, and refuse a folder of another user
// (other than root, or the user of `sudo`), unless the same user owns the folder around it and others can write to
// neither: root in a container, for one, measures in the user's folder. The same holds for ROOT itself, if it has the
// name that we choose, except that we follow a link that you have made; you may give a name of your own to any link or
// folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "os/errors.h"
#include "os/files.h"
#include "session/windows/open_window.h"

namespace syscost::session {

/// ROOT, if the user names none.
inline constexpr const char* kArtifactsName = "syscost_artifacts";

/// Opens ROOT, an absolute path, and makes it if it is not there. Fails if it has our name and is another user's link
/// or folder.
Result<Descriptor> open_artifacts_root(const std::string& root);

/// `raw` as the name of one file or folder, so that bench finds it by the text of a row: as rows have it, and of that
/// letters, digits and a few marks stay, others become `_`, and a long text is cut. A changed name ends with a hash of
/// `raw`, so that two tests never share a folder.
std::string safe_name(std::string_view raw);

/// Makes syscalls: between windows only.
class Artifacts {
 public:
  /// Makes ROOT/RUN/PROGRAM. Fails if it cannot be written, or if RUN or PROGRAM is a link or another user's folder.
  /// `root` is absolute.
  static Result<Artifacts> open(const std::string& root, std::string_view run_id, std::string_view program);

  const std::string& folder() const { return folder_; }
  /// The folder of a window: that which another tool has made, or a new one.
  Result<std::string> folder_of(OpenWindow& window) const;
  /// Makes a new folder inside `parent`, and returns its path. `parent` is a folder that this object made; empty = the
  /// program's.
  Result<std::string> make_folder(const std::string& parent, std::string_view name) const;
  /// Writes a new file into a folder that this object made. If that fails, no part of the file stays.
  Result<void> write(const std::string& folder, std::string_view name, std::string_view content) const;

 private:
  Artifacts(std::string root, std::string folder) : root_(std::move(root)), folder_(std::move(folder)) {}

  std::string root_;
  std::string folder_;
};

}  // namespace syscost::session
