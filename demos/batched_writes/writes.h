// SPDX-License-Identifier: MIT
//
// What the demo measures: the same bytes to the same descriptor, with a call for each, for each block, or for all.
//
// The test program and the benchmark program share these bodies, so that their counts can be compared.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
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

/// Passes bytes on in blocks of 256. With `is_flushed_always`, a bug: each byte is passed on at once, as by a stream
/// that is flushed after each value. False once the kernel takes fewer bytes than given.
inline bool write_buffered(int fd, std::span<const char> payload, bool is_flushed_always) {
  std::array<char, 256> block{};
  std::size_t used = 0;
  for (const char byte : payload) {
    block[used++] = byte;
    if (used < block.size() && !is_flushed_always) continue;
    if (!write_in_one_piece(fd, std::span(block).first(used))) return false;
    used = 0;
  }
  return used == 0 || write_in_one_piece(fd, std::span(block).first(used));
}

}  // namespace batched_writes
