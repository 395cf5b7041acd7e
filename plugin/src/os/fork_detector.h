// SPDX-License-Identifier: MIT
//
// ForkDetector: tells a process without a syscall whether it is a fork child of the process that measures.
//
// A fork child may return into the test framework and run every listener again. It must write no row and touch no
// backend, and calling getpid() would be a syscall in the user's window. The kernel gives a child a zeroed copy of a
// page that is marked so (MADV_WIPEONFORK, kernel 4.14): a load from it answers.
#pragma once

namespace syscost {

class ForkDetector {
 public:
  /// Marks this process as the one that measures. Makes syscalls.
  ForkDetector();
  bool is_fork_child() const;

 private:
  volatile const int* mark_ = nullptr;  // 1 here, 0 in children; null where the kernel is too old
  int owner_ = 0;
};

}  // namespace syscost
