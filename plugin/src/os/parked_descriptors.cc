// SPDX-License-Identifier: MIT
#include "os/parked_descriptors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "os/own_descriptors.h"
#include "os/passed_descriptors.h"

namespace syscost {
namespace {

/// Of copies(), which promises errno.
Failure copies_failure(std::string_view operation, int error) {
  Failure failure = errno_failure(operation, "the socket that keeps descriptors", error);
  errno = error;
  return failure;
}

}  // namespace

void close_each(const std::vector<int>& descriptors) {
  for (const int descriptor : descriptors) close(descriptor);
}

Result<ParkedDescriptors> ParkedDescriptors::park(const std::vector<int>& descriptors) {
  SYSCOST_CHECK(!descriptors.empty() && descriptors.size() <= PassedDescriptors::kMost);
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    const int error = errno;
    close_each(descriptors);
    return errno_failure("open", "a socket that keeps descriptors", error);
  }
  const char byte = 0;
  const bool is_sent = send_passing(ends[0], &byte, 1, descriptors, 0) == 1;
  const int error = errno;
  close(ends[0]);
  close_each(descriptors);
  if (is_sent) return ParkedDescriptors(keep_descriptor(ends[1]));
  close(ends[1]);
  return errno_failure("keep", "descriptors in a socket", error);
}

ParkedDescriptors::ParkedDescriptors(int socket) : socket_(socket), owner_(getpid()) {}

ParkedDescriptors::ParkedDescriptors(ParkedDescriptors&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), owner_(other.owner_) {}

ParkedDescriptors& ParkedDescriptors::operator=(ParkedDescriptors&& other) noexcept {
  close_all();
  socket_ = std::exchange(other.socket_, -1);
  owner_ = other.owner_;
  return *this;
}

ParkedDescriptors::~ParkedDescriptors() {
  close_all();
}

Result<std::vector<int>> ParkedDescriptors::copies() {
  if (!is_still_ours(socket_)) {
    const int error = errno;
    if (error == EBADF) socket_ = -1;
    return copies_failure("find", error);
  }
  char byte = 0;
  PassedDescriptors found;
  if (receive_passing(socket_, &byte, 1, &found, MSG_PEEK | MSG_DONTWAIT) < 0) return copies_failure("read", errno);
  if (found.is_short) {
    found.close_all();
    return copies_failure("take copies out of", EMFILE);
  }
  return std::vector<int>(found.all().begin(), found.all().end());
}

void ParkedDescriptors::close_all() {
  if (socket_ < 0) return;
  // A child that ends like a whole program, destructors and all, must not take what is its parent's.
  if (getpid() == owner_ && is_still_ours(socket_)) {
    char byte = 0;
    PassedDescriptors taken;
    // Those that find no free number the kernel closes.
    static_cast<void>(receive_passing(socket_, &byte, 1, &taken, MSG_DONTWAIT));
    taken.close_all();
  }
  close_descriptor(socket_);
}

}  // namespace syscost
