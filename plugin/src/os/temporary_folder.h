// SPDX-License-Identifier: MIT
//
// Temporary folders: makes them so that no other user can put anything in, and removes them with all that lies in them.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/files.h"

namespace syscost {

// A process may outlive the one that removes its temporary files. In /tmp itself, a stranger could then make a link
// with such a file's name, and the process would follow it. So our files lie in a folder of the user's, which stays.

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

/// A folder for files of one run, which goes when the run ends, also if a signal ends it.
///
/// SIGKILL leaves the folder. Therefore its owner holds a lock on it, and the next run removes the folders without one.
class RunFolder {
 public:
  /// Makes a folder in `temporary` (TMPDIR or /tmp), which only this user can read. Removes those of runs that were
  /// killed.
  explicit RunFolder(const std::string& temporary) {
    const std::string in = private_folder(temporary);
    if (in.empty()) {
      path_ = temporary;
      return;
    }
    remove_left(in);
    // A run that starts at the same time may remove the folder before its lock is taken.
    constexpr int kTries = 10;
    for (int i = 0; i < kTries && lock_ < 0; ++i) {
      const std::string made = make_own_folder(in + "/" + std::string(kBeginning));
      path_ = made.empty() ? in : made;
      if (made.empty()) return;
      lock_ = locked(path_);
    }
    if (lock_ < 0) return;
    rows_ = path_ + "/" + kRows;
    notes_ = path_ + "/" + kNotes;
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder() {
    remove();
    if (lock_ >= 0) close(lock_);
  }

  /// False where no folder can be made: errno says why, and path() is where it was tried.
  bool is_made() const { return lock_ >= 0; }
  const std::string& path() const { return path_; }
  const std::string& rows() const { return rows_; }    ///< The path of the CSV. Nothing is there yet.
  const std::string& notes() const { return notes_; }  ///< The path of a second file.

  /// Removes the files and the folder. A signal handler may call it.
  void remove() const {
    if (lock_ < 0) return;
    // A process that outlives the run may make a file between both calls.
    constexpr int kTries = 3;
    for (int i = 0; i < kTries; ++i) {
      unlink(rows_.c_str());
      unlink(notes_.c_str());
      if (rmdir(path_.c_str()) == 0 || errno != ENOTEMPTY) return;
    }
  }

 private:
  static constexpr std::string_view kBeginning = "bench-run-";
  static constexpr const char* kRows = "run.csv";
  static constexpr const char* kNotes = "notes";

  /// A descriptor that holds the lock of the folder at `path`; -1 where another process holds it, or the folder is
  /// gone.
  static int locked(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat opened {};
    struct stat now {};
    const bool is_held = flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
    if (is_held && fstat(fd, &opened) == 0 && lstat(path.c_str(), &now) == 0 && opened.st_ino == now.st_ino) return fd;
    close(fd);
    return -1;
  }

  static void remove_left(const std::string& in) {
    DIR* const folder = opendir(in.c_str());
    if (folder == nullptr) return;
    while (const dirent* const entry = readdir(folder)) {
      constexpr std::size_t kRandom = 6;
      const std::string_view name = entry->d_name;
      if (!name.starts_with(kBeginning) || name.size() != kBeginning.size() + kRandom) continue;
      const std::string path = in + "/" + entry->d_name;
      const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0) continue;
      if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        unlink((path + "/" + kRows).c_str());
        unlink((path + "/" + kNotes).c_str());
        rmdir(path.c_str());
      }
      close(fd);
    }
    closedir(folder);
  }

  std::string path_;
  std::string rows_;
  std::string notes_;
  int lock_ = -1;
};

// Removes a folder of ours with all that lies in it, and nothing that is only mounted there.
//
// A test may mount a folder of the user's below its temporary folder, and end before it unmounts it. If the temporary
// folder is then removed by its names alone, as `rm -r` and std::filesystem::remove_all() do, the user's files go. A
// bind mount may lie on the same device, so the device does not tell it. The number of the mount does. Where the kernel
// has no such numbers (gVisor), only what lies on another device is kept.
//
// No link is followed, and a descriptor per level is not needed, so the depth of the tree has no limit.

struct LeftBehind {
  std::string path;  ///< Below the path that the caller gave, with that path.
  std::string why;   ///< "another file system is mounted there", "Operation not permitted".
};

/// At most so many are named.
inline constexpr std::size_t kMostLeftNamed = 8;

/// Removes `path`: a file, a link, or a folder with its contents, also folders that lack permissions. Returns what is
/// left, and why; empty if nothing is there any more.
std::vector<LeftBehind> remove_tree(const std::string& path);

/// The same, but the folder `path` itself stays.
std::vector<LeftBehind> remove_below(const std::string& path);

/// "/tmp/a/mnt: another file system is mounted there", one after another, for a message. Empty if nothing is left.
std::string text_of(const std::vector<LeftBehind>& left);

/// The number of the mount on which an open file lies: statx() has it since Linux 5.8, /proc always. For tests; the
/// removal takes the first that is there.
std::optional<std::uint64_t> mount_by_statx(int file);
std::optional<std::uint64_t> mount_by_proc(int file);

}  // namespace syscost
