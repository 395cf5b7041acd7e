// SPDX-License-Identifier: MIT
//
// A folder for files that go again, in which no other user can put anything.
//
// A process may outlive the one that removes such a file. In /tmp itself, a stranger could then make a link with the
// file's name, and the process would follow it. So our files lie in a folder of the user's, which stays.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace syscost {

inline bool is_private_folder(const std::string& path) {
  struct stat status {};
  constexpr mode_t kOfOthers = S_IWGRP | S_IWOTH;
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & kOfOthers) == 0;
}

/// `folder` (TMPDIR or /tmp) itself where it is private, else a folder in it, made if need be. Empty where strangers
/// took all names that it tries, or nothing can be made in `folder`.
inline std::string private_folder(const std::string& folder) {
  if (is_private_folder(folder)) return folder;
  constexpr int kNames = 10;
  for (int i = 0; i < kNames; ++i) {
    std::string own = folder + "/syscost-" + std::to_string(geteuid()) + (i == 0 ? "" : "-" + std::to_string(i));
    if (mkdir(own.c_str(), S_IRWXU) != 0 && errno != EEXIST) return {};
    if (is_private_folder(own)) return own;
  }
  return {};
}

}  // namespace syscost
