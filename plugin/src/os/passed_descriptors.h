// SPDX-License-Identifier: MIT
//
// Descriptors that go with a message over a socket (SCM_RIGHTS).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <sys/types.h>

namespace syscost {

struct Passed {
  static constexpr std::size_t kMost = 32;

  std::array<int, kMost> descriptors{};
  std::size_t count = 0;
  /// Received only: more were sent. Mostly no number was free for them, which is a limit of this process.
  bool is_short = false;

  std::span<const int> all() const { return std::span(descriptors).first(count); }
  void add(int descriptor);
  void close_all();
};

/// sendmsg(2) of one message, which is never answered with SIGPIPE.
ssize_t send_passing(int socket, const void* message, std::size_t size, std::span<const int> descriptors, int flags);

/// recvmsg(2) of one message of `size` bytes at most; a longer one fails with EBADMSG. Its descriptors, which are
/// close-on-exec, belong to the caller, who gets the first of them where not all could be had; with `passed` null none
/// is taken.
ssize_t receive_passing(int socket, void* message, std::size_t size, Passed* passed, int flags);

}  // namespace syscost
