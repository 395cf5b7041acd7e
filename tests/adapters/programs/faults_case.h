// SPDX-License-Identifier: MIT
//
// The common parts of tests of failing and forbidden calls.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "syscost/faults.h"
#include "syscost/gtest.h"

namespace adapter_tests {

/// The errno of a write; 0 for success.
inline int write_error(int descriptor) {
  return write(descriptor, "x", 1) == 1 ? 0 : errno;
}

/// A caller that is on the stack.
__attribute__((noinline)) inline bool opens(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  close(descriptor);
  return descriptor >= 0;
}

class Faults : public testing::Test {
 protected:
  ~Faults() override { close(null_); }
  int null_ = open("/dev/null", O_WRONLY | O_CLOEXEC);
};

}  // namespace adapter_tests
