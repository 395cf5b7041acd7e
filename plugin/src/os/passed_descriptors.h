// SPDX-License-Identifier: MIT
//
// Descriptors that are sent with a message over a socket (SCM_RIGHTS).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <sys/types.h>

namespace syscost {

struct PassedDescriptors {
  static constexpr std::size_t kMost = 32;

  std::array<int, kMost> descriptors{};
  std::size_t count = 0;
  /// Received only: more were sent than could be received, mostly because this process may open no more descriptors.
  bool is_short = false;

  std::span<const int> all() const { return std::span(descriptors).first(count); }
  void add(int descriptor);
  void close_all();
};

/// sendmsg(2) of one message; it never raises SIGPIPE.
ssize_t send_passing(int socket, const void* message, std::size_t size, std::span<const int> descriptors, int flags);

/// recvmsg(2) of one message of `size` bytes at most; a longer one fails with EBADMSG. Its descriptors are
/// close-on-exec and belong to the caller. If not all could be received, the caller gets the first of them. With
/// `passed` null it receives none.
ssize_t receive_passing(int socket, void* message, std::size_t size, PassedDescriptors* passed, int flags);

}  // namespace syscost
