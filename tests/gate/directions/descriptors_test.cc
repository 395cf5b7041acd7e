// SPDX-License-Identifier: MIT
//
// Changes in how programs make, set and close descriptors. Above each test: the public project that made the change,
// and the change.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "form.h"

namespace directions {
namespace {

void set_flag(int socket, int option, int level = SOL_SOCKET) {
  const int on = 1;
  EXPECT_EQ(setsockopt(socket, level, option, &on, sizeof on), 0);
}

/// A listening socket on this machine and the connections to it.
class Listener {
 public:
  explicit Listener(bool reuses_address = false) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (reuses_address) set_flag(socket_, SO_REUSEADDR);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
  }
  ~Listener() {
    for (const int one : clients_) close(one);
    close(socket_);
  }
  void add_client() {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    clients_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(clients_.back(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  int socket_number() const { return socket_; }

 private:
  int socket_;
  std::vector<int> clients_;
};

// A user of syscost: in two of 20 places, close is forgotten.
TEST(Descriptors, CloseForgotten) {
  for (int i = 0; i < 20; ++i) {
    const int file = open("part0", O_RDONLY | O_CLOEXEC);
    if (!is_new() || i % 10 != 0) close(file);
  }
}

// facebook/rocksdb 6936, bitcoin/bitcoin 6488: a file is closed also if something failed after open.
TEST(Descriptors, ClosedAfterAFailure) {
  for (int i = 0; i < 4; ++i) {
    const int file = open("part0", O_RDONLY | O_CLOEXEC);
    const bool is_written = write(file, "x", 1) == 1;  // the file is open for reading
    if (is_written || is_new()) close(file);
  }
}

// Double closes, which apache/trafficserver 3806 looked for: the second one fails.
TEST(Descriptors, ClosedTwice) {
  for (int i = 0; i < 4; ++i) {
    const int file = open("part0", O_RDONLY | O_CLOEXEC);
    close(file);
    if (is_new()) close(file);
  }
}

// redis/redis 9177: accept4 sets what fcntl set before.
TEST(Descriptors, FlagsWithAccept) {
  Listener listener;
  for (int i = 0; i < 8; ++i) {
    listener.add_client();
    int connection = -1;
    if (is_new()) {
      connection = accept4(listener.socket_number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } else {
      connection = accept(listener.socket_number(), nullptr, nullptr);
      fcntl(connection, F_SETFD, FD_CLOEXEC);
      fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_NONBLOCK);
    }
    close(connection);
  }
}

// maxmind/libmaxminddb 275: a descriptor that was opened with O_CLOEXEC gets the flag by fcntl, too.
TEST(Descriptors, FlagSetTwice) {
  const int file = open("part0", O_RDONLY | O_CLOEXEC);
  if (is_new()) fcntl(file, F_SETFD, fcntl(file, F_GETFD) | FD_CLOEXEC);
  close(file);
}

// twitter/ccommon 238: connections have the option of the socket that listens.
TEST(Descriptors, OptionOfTheListener) {
  Listener listener;
  if (is_new()) set_flag(listener.socket_number(), TCP_NODELAY, IPPROTO_TCP);
  for (int i = 0; i < 8; ++i) {
    listener.add_client();
    const int connection = accept4(listener.socket_number(), nullptr, nullptr, SOCK_CLOEXEC);
    if (!is_new()) set_flag(connection, TCP_NODELAY, IPPROTO_TCP);
    close(connection);
  }
}

// sogou/workflow 1753: small packets are sent at once on each connection.
TEST(Descriptors, OptionOfEachConnection) {
  Listener listener;
  for (int i = 0; i < 8; ++i) {
    listener.add_client();
    const int connection = accept4(listener.socket_number(), nullptr, nullptr, SOCK_CLOEXEC);
    if (is_new()) set_flag(connection, TCP_NODELAY, IPPROTO_TCP);
    close(connection);
  }
}

// uNetworking/uWebSockets 176: a server can start again at once.
TEST(Descriptors, AddressUsedAgain) {
  Listener listener(is_new());
  listener.add_client();
}

// h2o/h2o 1533: threads wake a loop by an eventfd, not by a pipe.
TEST(Descriptors, CounterInThePlaceOfAPipe) {
  int ends[2] = {-1, -1};
  if (is_new()) {
    ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  } else {
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  }
  std::array<char, 8> word{1};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(write(ends[1], word.data(), word.size()), 8);
    EXPECT_EQ(read(ends[0], word.data(), word.size()), 8);
  }
  close(ends[0]);
  if (!is_new()) close(ends[1]);
}

// libevent/libevent 1619: an eventfd is watched for edges, so that it need not be read.
TEST(Descriptors, WakeUpsAreNotRead) {
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int watch = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = is_new() ? EPOLLIN | EPOLLET : static_cast<std::uint32_t>(EPOLLIN);
  epoll_ctl(watch, EPOLL_CTL_ADD, wake, &event);
  for (int i = 0; i < 10; ++i) {
    eventfd_write(wake, 1);
    EXPECT_EQ(epoll_wait(watch, &event, 1, -1), 1);
    eventfd_t count = 0;
    if (!is_new()) eventfd_read(wake, &count);
  }
  close(watch);
  close(wake);
}

// gatzka/cio 353: events that are watched for already are not set again.
TEST(Descriptors, EventsAreSetOnce) {
  const int wake = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  const int watch = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(watch, EPOLL_CTL_ADD, wake, &event);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(epoll_wait(watch, &event, 1, -1), 1);
    if (!is_new()) epoll_ctl(watch, EPOLL_CTL_MOD, wake, &event);
  }
  close(watch);
  close(wake);
}

// FreeRDP/FreeRDP 1942: poll in the place of select, which cannot take a descriptor above 1023.
TEST(Descriptors, PollInThePlaceOfSelect) {
  const int wake = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  for (int i = 0; i < 10; ++i) {
    if (is_new()) {
      pollfd one{wake, POLLIN, 0};
      EXPECT_EQ(poll(&one, 1, 1000), 1);
    } else {
      fd_set all;
      FD_ZERO(&all);
      FD_SET(wake, &all);
      timeval second{1, 0};
      EXPECT_EQ(select(wake + 1, &all, nullptr, nullptr, &second), 1);
    }
  }
  close(wake);
}

// versatica/mediasoup 386: datagrams are received together.
TEST(Descriptors, DatagramsTogether) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(send(ends[1], "datagram", 8, 0), 8);
  std::array<std::array<char, 16>, 8> texts;
  std::array<iovec, 8> parts;
  std::array<mmsghdr, 8> messages{};
  for (std::size_t i = 0; i < 8; ++i) {
    parts[i] = {texts[i].data(), texts[i].size()};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  if (is_new()) {
    EXPECT_EQ(recvmmsg(ends[0], messages.data(), 8, 0, nullptr), 8);
  } else {
    for (mmsghdr& one : messages) EXPECT_EQ(recvmsg(ends[0], &one.msg_hdr, 0), 8);
  }
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace directions
