// SPDX-License-Identifier: MIT
//
// A program may be started with its standard input, output or error closed. Then the next file that it opens gets such
// a number, and messages are written into that file.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace syscost {

/// Opens /dev/null at each of the numbers 0 to 2 that is closed. A program that is executed later finds it closed
/// again. To be called before anything is opened.
inline void fill_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // open() takes the lowest number that is free: this one.
    if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int filled = open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

}  // namespace syscost
