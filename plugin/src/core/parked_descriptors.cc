// SPDX-License-Identifier: MIT
#include "core/parked_descriptors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/own_descriptors.h"

namespace syscost {
namespace {

constexpr std::size_t kMost = 32;

}  // namespace

void close_each(const std::vector<int>& descriptors) {
  for (const int descriptor : descriptors) close(descriptor);
}

Result<ParkedDescriptors> ParkedDescriptors::park(const std::vector<int>& descriptors) {
  SYSCOST_CHECK(!descriptors.empty() && descriptors.size() <= kMost);
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    const int error = errno;
    close_each(descriptors);
    return errno_failure("open", "a socket that keeps descriptors", error);
  }
  const std::size_t bytes = descriptors.size() * sizeof(int);
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kMost * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  const bool is_sent = sendmsg(ends[0], &header, MSG_NOSIGNAL) == 1;
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

std::vector<int> ParkedDescriptors::receive(int flags) const {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kMost * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = recvmsg(socket_, &header, flags | MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  std::vector<int> received;
  if (got < 0) return received;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return received;
  received.resize((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  std::memcpy(received.data(), CMSG_DATA(rights), received.size() * sizeof(int));
  return received;
}

Result<std::vector<int>> ParkedDescriptors::copies() {
  if (!is_still_ours(socket_)) {
    const int error = errno;
    if (error == EBADF) socket_ = -1;
    return errno_failure("find", "the socket that keeps descriptors", error);
  }
  std::vector<int> found = receive(MSG_PEEK);
  if (found.empty()) return errno_failure("read", "the socket that keeps descriptors", errno);
  return found;
}

void ParkedDescriptors::close_all() {
  if (socket_ < 0) return;
  // A child that ends like a whole program, destructors and all, must not take what is its parent's.
  if (getpid() == owner_ && is_still_ours(socket_)) close_each(receive(0));
  close_descriptor(socket_);
}

}  // namespace syscost
