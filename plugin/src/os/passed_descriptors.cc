// SPDX-License-Identifier: MIT
#include "os/passed_descriptors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/result.h"

namespace syscost {

void PassedDescriptors::add(int descriptor) {
  SYSCOST_CHECK(count < kMost);
  descriptors[count++] = descriptor;
}

void PassedDescriptors::close_all() {
  for (const int descriptor : all()) close(descriptor);
  count = 0;
}

ssize_t send_passing(int socket, const void* message, std::size_t size, std::span<const int> descriptors, int flags) {
  SYSCOST_CHECK(descriptors.size() <= PassedDescriptors::kMost);
  iovec part{const_cast<void*>(message), size};  // NOLINT(cppcoreguidelines-pro-type-const-cast): sendmsg only reads
  alignas(cmsghdr) char control[CMSG_SPACE(PassedDescriptors::kMost * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t receive_passing(int socket, void* message, std::size_t size, PassedDescriptors* passed, int flags) {
  iovec part{message, size};
  alignas(cmsghdr) char control[CMSG_SPACE(PassedDescriptors::kMost * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (passed != nullptr) {
    *passed = {};
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return got;
  if (passed != nullptr) {
    const cmsghdr* rights = CMSG_FIRSTHDR(&header);
    if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      passed->count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      std::memcpy(passed->descriptors.data(), CMSG_DATA(rights), passed->count * sizeof(int));
    }
    passed->is_short = (header.msg_flags & MSG_CTRUNC) != 0;
  }
  if ((header.msg_flags & MSG_TRUNC) == 0) return got;
  if (passed != nullptr) passed->close_all();
  errno = EBADMSG;
  return -1;
}

}  // namespace syscost
