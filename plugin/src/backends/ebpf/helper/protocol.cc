// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/protocol.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "backends/ebpf/pair.h"

namespace syscost::ebpf {
namespace {

Address address_ending_in(const std::string& end) {
  char name[sizeof sockaddr_un::sun_path];
  const int length =
      std::snprintf(name, sizeof name, "syscost-ebpf-%d-%016llx-%s", kProtocolVersion,
                    static_cast<unsigned long long>(build_hash()), end.c_str());  // NOLINT(google-runtime-int)
  Address address;
  address.name.sun_family = AF_UNIX;
  // A first byte of 0: no file, but a name in the network namespace that goes when its socket does.
  std::memcpy(address.name.sun_path + 1, name, static_cast<std::size_t>(length));
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  return address;
}

void copy_text(const std::string& text, std::array<char, 480>& into) {
  const std::size_t length = std::min(text.size(), into.size() - 1);
  std::copy_n(text.begin(), length, into.begin());
}

std::string text_of(const std::array<char, 480>& text) {
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

}  // namespace

Address address_of(uid_t user) {
  return address_ending_in(std::to_string(user));
}

Address address_for_everyone() {
  return address_ending_in("everyone");
}

bool send_message(int socket, const void* message, std::size_t size, const Passed& passed) {
  iovec part{const_cast<void*>(message), size};  // NOLINT(cppcoreguidelines-pro-type-const-cast): sendmsg only reads
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed.descriptors)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (passed.count != 0) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(passed.count * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(passed.count * sizeof(int));
    std::memcpy(CMSG_DATA(rights), passed.descriptors.data(), passed.count * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(size);
}

bool receive_message(int socket, void* message, std::size_t size, Passed& passed) {
  iovec part{message, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed.descriptors)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    if (got == 0) errno = 0;
    return false;
  }
  passed.count = 0;
  for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr; rights = CMSG_NXTHDR(&header, rights)) {
    if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
    passed.count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(passed.descriptors.data(), CMSG_DATA(rights), passed.count * sizeof(int));
  }
  if (got == static_cast<ssize_t>(size) && (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) return true;
  for (std::size_t i = 0; i < passed.count; ++i) close(passed.descriptors[i]);
  passed.count = 0;
  errno = EBADMSG;
  return false;
}

Answer failed_answer(const Failure& failure) {
  Answer answer;
  answer.has_failed = 1;
  copy_text(failure.reason, answer.reason);
  copy_text(failure.how_to_fix, answer.how_to_fix);
  return answer;
}

Failure failure_of(const Answer& answer) {
  return {text_of(answer.reason), text_of(answer.how_to_fix)};
}

}  // namespace syscost::ebpf
