// SPDX-License-Identifier: MIT
//
// Are we a fork child of the process that measures? Learned without a syscall.
//
// A fork child may return into the test framework and run every listener again. It must write no row and touch no
// instrument, and asking getpid() would be a syscall in the user's window. A page that the kernel hands to
// children zeroed (MADV_WIPEONFORK, kernel 4.14) answers by a load.
#pragma once

namespace syscost::session {

class ChildGuard {
 public:
  /// Marks this process as the one that is no child. Makes syscalls.
  ChildGuard();
  bool is_child() const;

 private:
  volatile const int* mark_ = nullptr;  // 1 here, 0 in children; null where the kernel is too old
  int owner_ = 0;
};

}  // namespace syscost::session
