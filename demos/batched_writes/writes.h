// SPDX-License-Identifier: MIT
//
// What the demo measures: the same bytes to the same descriptor, with a call for each or with one for all.
//
// The test program and the benchmark program share these bodies, so that their counts can be compared.
#pragma once

#include <unistd.h>

#include <span>

namespace batched_writes {

/// One write for each byte. False once the kernel takes none; errno says why.
inline bool write_byte_by_byte(int fd, std::span<const char> payload) {
  for (const char& byte : payload) {
    if (write(fd, &byte, 1) != 1) return false;
  }
  return true;
}

/// One write for all bytes. False when the kernel took fewer.
inline bool write_in_one_piece(int fd, std::span<const char> payload) {
  return write(fd, payload.data(), payload.size()) == static_cast<ssize_t>(payload.size());
}

}  // namespace batched_writes
