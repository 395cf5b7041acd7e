// SPDX-License-Identifier: MIT
//
// KeptErrno: keeps the program's errno. syscost runs between a call and the program's look at errno, and makes calls
// too.
#pragma once

#include <cerrno>

namespace syscost {

/// Restores errno at the end of the block.
class KeptErrno {
 public:
  KeptErrno() = default;
  ~KeptErrno() { errno = found_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int found_ = errno;
};

}  // namespace syscost
