// SPDX-License-Identifier: MIT
//
// A server of the helper's that a test attacks: it runs in a child, without programs. A client without a place gets a
// refusal from it, and that is enough to see whether it still answers.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/helper/server.h"

namespace syscost::ebpf {

/// A connection of TCP with data that no one reads: for an hour, who closes it waits, as long as this object lives.
class LingeringSocket {
 public:
  LingeringSocket() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    constexpr int kLeast = 4096;
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &kLeast, sizeof kLeast);
    setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &kLeast, sizeof kLeast);
    if (bind(listener, address, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, address, &size) == 0 &&
        connect(socket_, address, size) == 0) {
      peer_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const std::vector<char> data(std::size_t{1} << 16);
      while (send(socket_, data.data(), data.size(), MSG_DONTWAIT) > 0) {
      }
      constexpr linger kHour{1, 3600};
      setsockopt(socket_, SOL_SOCKET, SO_LINGER, &kHour, sizeof kHour);
    }
    close(listener);
  }
  /// The test must not wait for it either.
  ~LingeringSocket() {
    if (socket_ >= 0) {
      constexpr linger kNot{1, 0};
      setsockopt(socket_, SOL_SOCKET, SO_LINGER, &kNot, sizeof kNot);
      close(socket_);
    }
    if (peer_ >= 0) close(peer_);
  }
  LingeringSocket(LingeringSocket&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), peer_(std::exchange(other.peer_, -1)) {}
  LingeringSocket(const LingeringSocket&) = delete;
  LingeringSocket& operator=(const LingeringSocket&) = delete;

  bool is_there() const { return peer_ >= 0; }
  int get() const { return socket_; }
  /// The reference that remains is the one that was sent away.
  void give_away() { close(std::exchange(socket_, -1)); }

 private:
  int socket_ = -1;
  int peer_ = -1;
};

inline int connect_to(const Address& address) {
  const int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address.name), address.size), 0);
  // A limit of the test: a server that does not answer hangs.
  constexpr timeval kLimit{.tv_sec = 30, .tv_usec = 0};
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &kLimit, sizeof kLimit);
  return client;
}

inline bool say(int client, Request request) {
  Question question;
  question.request = request;
  return send_message(client, &question, sizeof question);
}

/// What the server says to a client without a place; empty where it says nothing.
inline std::string answer_to(int client) {
  if (!say(client, Request::report)) return {};
  Answer answer;
  return receive_message(client, &answer, sizeof answer, nullptr) ? failure_of(answer).reason : std::string();
}

class ServerInChild {
 public:
  /// `refuses`: descriptors, as far as the kernel can.
  explicit ServerInChild(bool refuses) {
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    static int number = 0;
    address_.name.sun_family = AF_UNIX;
    const int length = std::snprintf(address_.name.sun_path + 1, sizeof address_.name.sun_path - 1,
                                     "syscost-test-%d-%d", getpid(), ++number);
    address_.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
    if (refuses) refuse_descriptors(listener_);
    ask_for_senders(listener_);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address_.name), address_.size), 0);
    EXPECT_EQ(listen(listener_, 100), 0);
  }
  ~ServerInChild() {
    close(listener_);
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  ServerInChild(const ServerInChild&) = delete;
  ServerInChild& operator=(const ServerInChild&) = delete;

  /// Until then, clients wait in its queue.
  void start() {
    child_ = fork();
    if (child_ != 0) return;
    Server(listener_, Server::Clients::everyone).run();
    _exit(0);
  }
  /// Between the two it closes nothing.
  void pause() const {
    if (child_ <= 0 || kill(child_, SIGSTOP) != 0) return;
    waitpid(child_, nullptr, WUNTRACED);
  }
  void go_on() const {
    if (child_ > 0) kill(child_, SIGCONT);
  }
  int listener() const { return listener_; }
  const Address& address() const { return address_; }

 private:
  int listener_ = -1;
  Address address_;
  pid_t child_ = -1;
};

}  // namespace syscost::ebpf
