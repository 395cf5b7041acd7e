// SPDX-License-Identifier: MIT
//
// FileLock: the lock under which processes append to one file. Waiting for it takes a bounded time.
//
// Any process that can open a file, even for reading only, can lock it and hold the lock for ever. Our writers hold it
// for one write, so if a lock is held for longer, another program holds it.
#pragma once

#include <string>

namespace syscost {

/// Held for the life of the object. Other writers wait; readers are not kept out. Makes syscalls: between windows only.
class FileLock {
 public:
  /// How often a waiter tries, a millisecond apart: together a second, or longer on a busy machine.
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

/// The process that holds the lock of `fd`: " (process 17, flock)"; empty if /proc/locks does not show it.
std::string lock_holder(int fd);

}  // namespace syscost
