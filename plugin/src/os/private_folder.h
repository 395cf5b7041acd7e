// SPDX-License-Identifier: MIT
//
// A folder for files that go again, in which no other user can put anything.
//
// A process may outlive the one that removes such a file. In /tmp itself, a stranger could then make a link with the
// file's name, and the process would follow it. So our files lie in a folder of the user's, which stays.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "os/files.h"

namespace syscost {

inline bool is_private_folder(const std::string& path) {
  struct stat status {};
  constexpr mode_t kOfOthers = S_IWGRP | S_IWOTH;
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & kOfOthers) == 0;
}

/// A private folder in `folder` whose name has `beginning` and then what no one can foresee: that of an earlier run, or
/// a new one. "" if that fails; errno says why.
inline std::string unforeseen_folder(const std::string& folder, const std::string& beginning) {
  if (DIR* const entries = opendir(folder.c_str())) {
    std::string found;
    while (const dirent* const entry = readdir(entries)) {
      constexpr std::size_t kRandom = 6;
      const std::string_view name = entry->d_name;
      if (!name.starts_with(beginning) || name.size() != beginning.size() + kRandom) continue;
      const std::string path = folder + "/" + entry->d_name;
      if (is_private_folder(path)) found = path;
    }
    closedir(entries);
    if (!found.empty()) return found;
  }
  return make_own_folder(folder + "/" + beginning);
}

/// `folder` (TMPDIR or /tmp) itself where it is private, else a folder in it, made if need be. Strangers can take the
/// first name that it tries, because they can foresee it. Empty where nothing can be made in `folder`; errno says why.
inline std::string private_folder(const std::string& folder) {
  if (is_private_folder(folder)) return folder;
  const std::string name = "syscost-" + std::to_string(geteuid());
  std::string own = folder + "/" + name;
  if (mkdir(own.c_str(), S_IRWXU) != 0 && errno != EEXIST) return {};
  return is_private_folder(own) ? own : unforeseen_folder(folder, name + "-");
}

}  // namespace syscost
