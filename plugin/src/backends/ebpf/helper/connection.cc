// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "os/parked_descriptors.h"

namespace syscost::ebpf {
namespace {

/// Children that close connections end at once, unless someone makes their end wait. So many such ends are free for
/// all; each further child takes so many connections at least.
constexpr std::size_t kFreeChildren = 8;
constexpr std::size_t kConnectionsOfAFurtherChild = 64;

struct Message {
  ssize_t size = -1;  ///< As recvmsg() returns it.
  bool has_descriptors = false;
  bool is_cut = false;
  bool is_there = false;  ///< False at the end, of which recvmsg() says 0, too.
  Sender sender;
};

Message receive(int connection, void* into, std::size_t size, int flags) {
  iovec part{into, size};
  // Room for the sender alone: descriptors come after it, and find none.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  Message message;
  do {
    message.size = recvmsg(connection, &header, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (message.size < 0 && errno == EINTR);
  if (message.size < 0) return message;
  message.has_descriptors = (header.msg_flags & MSG_CTRUNC) != 0;
  message.is_cut = (header.msg_flags & MSG_TRUNC) != 0;
  const cmsghdr* credentials = CMSG_FIRSTHDR(&header);
  message.is_there = credentials != nullptr;
  if (credentials == nullptr || credentials->cmsg_type != SCM_CREDENTIALS) return message;
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(credentials), sizeof sender);
  message.sender = {sender.pid, sender.uid};
  return message;
}

}  // namespace

Arrival receive_question(int connection, bool may_bring_descriptors, Question& question, Sender& sender) {
  if (may_bring_descriptors && receive(connection, &question, sizeof question, MSG_PEEK).has_descriptors) {
    return Arrival::descriptors;
  }
  // The same message as before: no other process reads from this end.
  const Message message = receive(connection, &question, sizeof question, 0);
  if (message.size < 0) return errno == EAGAIN ? Arrival::nothing : Arrival::end;
  if (!message.is_there) return Arrival::end;
  sender = message.sender;
  const bool is_whole = message.size == static_cast<ssize_t>(sizeof question) && !message.is_cut;
  return is_whole && !message.has_descriptors ? Arrival::question : Arrival::nonsense;
}

bool Closer::may_have_child() const {
  return children_ < kFreeChildren || connections_.size() >= (children_ - kFreeChildren) * kConnectionsOfAFurtherChild;
}

void Closer::reap() {
  while (children_ > 0 && waitpid(-1, nullptr, WNOHANG) > 0) --children_;
}

void Closer::close_all() {
  reap();
  if (connections_.empty() || !may_have_child()) return;
  // The child ends when the pipe does, so it still holds the connections while they are closed here.
  std::array<int, 2> closed{-1, -1};
  if (pipe2(closed.data(), O_CLOEXEC) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    close(closed[1]);
    char byte = 0;
    while (read(closed[0], &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
  }
  if (child > 0) {
    ++children_;
    close_each(connections_);
    connections_.clear();
  }
  close(closed[0]);
  close(closed[1]);
}

}  // namespace syscost::ebpf
