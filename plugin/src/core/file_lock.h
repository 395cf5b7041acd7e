// SPDX-License-Identifier: MIT
//
// FileLock: the lock under which processes append to one file, waited for a bounded time.
//
// Whoever can open a file can lock it, also for reading only, and hold the lock for ever. Writers of ours hold it for
// one write, so what takes longer is somebody else.
#pragma once

#include <string>

namespace syscost {

/// Held for the life of the object. Other writers wait; readers are not kept out. Makes syscalls: between windows only.
class FileLock {
 public:
  /// How often a waiter tries again, a millisecond apart: a second, and longer where the machine has more to do than
  /// processors.
  static constexpr int kPatience = 1000;

  explicit FileLock(int fd, int patience = kPatience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool is_held() const { return error_ == 0; }
  /// 0 or an errno; EWOULDBLOCK when another process holds it and patience is at an end.
  int error() const { return error_; }

 private:
  int fd_;
  int error_;
};

/// Who holds the lock of `fd`: " (process 17, flock)"; empty where /proc/locks does not say.
std::string lock_holder(int fd);

}  // namespace syscost
