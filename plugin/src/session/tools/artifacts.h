// SPDX-License-Identifier: MIT
//
// Artifacts: the folder into which tools beside us put what they found, a folder for each window.
//
//     ROOT/RUN/PROGRAM/Suite.Test/syslat.txt
//     ROOT/RUN/PROGRAM/Suite.Test/loop flush/syslat.txt
//
// Programs of one ctest share a run, a test may run twice, and a user may start a program while it is still running:
// nothing that is there is ever written over. A folder that exists already makes the next one `Suite.Test~2`.
//
// Others may be able to write to ROOT, as in /tmp/syscost_artifacts. So we follow no link below it, and refuse a folder
// of another user (other than root): a link that was planted there would lead our files elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "os/result.h"

namespace syscost::session {

/// `text` as the name of one file or folder: letters, digits and a few marks stay, others become `_`, and what is long
/// is cut. A name that was changed ends in a hash of what it was, so that two tests never share one.
std::string safe_name(std::string_view text);

/// Makes syscalls: between windows only.
class Artifacts {
 public:
  /// Makes ROOT/RUN/PROGRAM. Fails where nothing can be written, and where RUN or PROGRAM is a link or another user's.
  /// `root` is absolute.
  static Result<Artifacts> open(const std::string& root, std::string_view run_id, std::string_view program);

  const std::string& folder() const { return folder_; }
  /// Makes a folder inside `parent` (the program's when empty; else one that this made) that was not there before.
  /// Returns its path.
  Result<std::string> make_folder(const std::string& parent, std::string_view name) const;
  /// Writes a file that is not there yet into a folder that this made. On failure nothing of it stays.
  Result<void> write(const std::string& folder, std::string_view name, std::string_view content) const;

 private:
  Artifacts(std::string root, std::string folder) : root_(std::move(root)), folder_(std::move(folder)) {}

  std::string root_;
  std::string folder_;
};

}  // namespace syscost::session
