// SPDX-License-Identifier: MIT
//
// RunFolder: a folder for files of one run, which goes when the run ends, also if a signal ends it.
//
// SIGKILL leaves the folder. Therefore its owner holds a lock on it, and the next run removes the folders without one.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "os/files.h"
#include "os/private_folder.h"

namespace syscost {

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

}  // namespace syscost
