// SPDX-License-Identifier: MIT
//
// Artifacts: the folder into which tools beside us put what they found, a folder for each window.
//
//     ROOT/RUN/PROGRAM/Suite.Test/syslat.txt
//     ROOT/RUN/PROGRAM/Suite.Test/loop flush/syslat.txt
//
// Programs of one ctest share a run, a test may run twice, and a user may start a program while it is still running:
// nothing that is there is ever written over. A folder that exists already makes the next one `Suite.Test~2`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace syscost::session {

/// `text` as the name of one file or folder: letters, digits and a few marks stay, others become `_`, and what is long
/// is cut. A name that was changed ends in a hash of what it was, so that two tests never share one.
std::string safe_name(std::string_view text);

/// Makes syscalls: between windows only.
class Artifacts {
 public:
  /// Makes ROOT/RUN/PROGRAM. Fails where nothing can be written. `root` is absolute.
  static Result<Artifacts> open(const std::string& root, std::string_view run_id, std::string_view program);

  const std::string& folder() const { return folder_; }
  /// Makes a folder inside `parent` (the program's when empty) that was not there before. Returns its path.
  Result<std::string> make_folder(const std::string& parent, std::string_view name) const;
  /// Writes a file that is not there yet. On failure nothing of it stays.
  static Result<void> write(const std::string& folder, std::string_view name, std::string_view content);

 private:
  explicit Artifacts(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
};

}  // namespace syscost::session
