// SPDX-License-Identifier: MIT
//
// KeptErrno: errno is the program's. Measuring stands between a call and the look at its errno, and makes calls itself.
#pragma once

#include <cerrno>

namespace syscost {

/// Puts errno back at the end of the block.
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
