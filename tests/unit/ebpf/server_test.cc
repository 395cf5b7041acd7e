// SPDX-License-Identifier: MIT
//
// The helper's server and its clients, which are not trusted: what they send, to each way of it to let go.
#include "backends/ebpf/helper/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "stranger_case.h"

namespace syscost::ebpf {
namespace {

constexpr const char* kRefusal = "the process has no place";

/// Sends `size` bytes with a descriptor.
bool send_with(int client, std::size_t size, int descriptor) {
  const std::vector<char> message(size, 'x');
  PassedDescriptors passed;
  passed.add(descriptor);
  return send_message(client, message.data(), size, passed);
}

enum class Kernel { refuses_descriptors, passes_them };

class StrangersTest : public testing::TestWithParam<Kernel> {
 protected:
  void SetUp() override {
    if (!LingeringSocket().is_there()) GTEST_SKIP() << "no loopback network here";
    if (GetParam() == Kernel::refuses_descriptors && !refuses_descriptors(server_.listener())) {
      GTEST_SKIP() << "needs Linux 6.16 (SO_PASSRIGHTS)";
    }
  }
  /// While the server is paused: sends it a descriptor that no one else has. Fails where the kernel refuses it, and
  /// nowhere else.
  void give(int client, std::size_t size) {
    LingeringSocket lingering;
    const bool is_sent = send_with(client, size, lingering.get());
    EXPECT_EQ(is_sent, GetParam() == Kernel::passes_them);
    EXPECT_TRUE(is_sent || errno == EPERM) << errno;
    if (is_sent) lingering.give_away();
    given_.push_back(std::move(lingering));
  }
  int connected() const { return connect_to(server_.address()); }
  void expect_that_it_serves() const {
    const int client = connected();
    EXPECT_EQ(answer_to(client), kRefusal);
    EXPECT_EQ(answer_to(client), kRefusal);
    close(client);
  }

  ServerInChild server_{GetParam() == Kernel::refuses_descriptors};
  std::vector<LingeringSocket> given_;
};

INSTANTIATE_TEST_SUITE_P(Each, StrangersTest, testing::Values(Kernel::refuses_descriptors, Kernel::passes_them),
                         [](const auto& kernel) {
                           return kernel.param == Kernel::refuses_descriptors ? "KernelRefusesDescriptors"
                                                                              : "KernelPassesDescriptors";
                         });

TEST_P(StrangersTest, ADescriptorWithAMessageIsNotClosedByTheServer) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sizeof(Question), sizeof(Question) + 1}) {
    const int client = connected();
    server_.pause();
    give(client, size);
    size == 0 ? server_.start() : server_.go_on();
    expect_that_it_serves();
    close(client);
    expect_that_it_serves();
  }
}

TEST_P(StrangersTest, ADescriptorThatIsStillInTheQueueIsNotClosedByTheServer) {
  server_.start();
  const int nonsense = connected();
  const int gone = connected();
  ASSERT_EQ(answer_to(gone), kRefusal);
  server_.pause();
  ASSERT_EQ(send(nonsense, "x", 1, MSG_NOSIGNAL), 1);
  give(nonsense, sizeof(Question));
  ASSERT_TRUE(say(gone, Request::report));
  give(gone, 1);
  close(gone);
  const int never_accepted = connected();
  give(never_accepted, 1);
  close(never_accepted);
  server_.go_on();
  expect_that_it_serves();
  close(nonsense);
  expect_that_it_serves();
}

TEST_P(StrangersTest, ADescriptorOfAConnectionThatIsOneTooManyIsNotClosedByTheServer) {
  if (geteuid() != 0) GTEST_SKIP() << "the limit is for other users: needs root";
  server_.start();
  server_.pause();
  std::vector<int> clients;
  ASSERT_EQ(seteuid(65534), 0);
  for (int i = 0; i < 90; ++i) clients.push_back(connected());
  server_.go_on();
  for (int i = 0; i < 50; ++i) clients.push_back(connected());
  char nothing = 0;
  EXPECT_EQ(recv(clients.back(), &nothing, 1, 0), 0) << "turned away: the queue is empty";
  ASSERT_EQ(seteuid(0), 0);
  server_.pause();
  ASSERT_EQ(seteuid(65534), 0);
  for (int i = 0; i < 10; ++i) clients.push_back(connected());
  ASSERT_EQ(seteuid(0), 0);
  for (std::size_t i = 140; i < clients.size(); ++i) give(clients[i], 1);
  server_.go_on();
  expect_that_it_serves();
  for (const int client : clients) close(client);
  expect_that_it_serves();
}

// The kernel must find out that no one can ever read the message.
TEST_P(StrangersTest, AConnectionInItsOwnQueueKeepsNoOneWaiting) {
  server_.start();
  const int client = connected();
  server_.pause();
  EXPECT_EQ(send_with(client, 1, client), GetParam() == Kernel::passes_them);
  give(client, 1);
  close(client);
  server_.go_on();
  expect_that_it_serves();
}

TEST_P(StrangersTest, WithoutADescriptorAClientIsServedOn) {
  server_.start();
  const int client = connected();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer_to(client), kRefusal);
  ASSERT_EQ(send(client, "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(answer_to(client), "") << "nonsense ends the connection";
  close(client);
}

// ---- who speaks -----------------------------------------------------------------------------------------------------

TEST_P(StrangersTest, AChildDoesNotSpeakForItsParent) {
  server_.start();
  const int client = connected();
  ASSERT_EQ(answer_to(client), kRefusal);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_sent = send(client, "x", 1, MSG_NOSIGNAL) == 1 && send(client, "", 0, MSG_NOSIGNAL) == 0 &&
                         say(client, Request::detach) && say(client, Request::join);
    _exit(is_sent ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer_to(client), kRefusal) << "the connection stays";
  Answer none;
  EXPECT_EQ(recv(client, &none, sizeof none, MSG_DONTWAIT), -1) << "an answer to the child";
  close(client);
}

TEST_P(StrangersTest, AnotherThreadSpeaksForItsProcessAlsoAsAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "to become another user needs root";
  server_.start();
  const pid_t child = fork();
  if (child == 0) {
    const int client = connected();
    const bool before = answer_to(client) == kRefusal;
    const bool after = setuid(65534) == 0 && answer_to(client) == kRefusal;
    _exit(before && after ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// ---- closing --------------------------------------------------------------------------------------------------------

// If the child ended before the connections are closed here, the last reference would be dropped here.
TEST(CloserTest, NeverDropsTheLastReference) {
  if (!LingeringSocket().is_there()) GTEST_SKIP() << "no loopback network here";
  alarm(120);  // a limit of the test
  Closer closer;
  for (int i = 0; i < 100; ++i) {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    LingeringSocket lingering;
    ASSERT_TRUE(send_with(ends[0], 1, lingering.get()));
    lingering.give_away();
    close(ends[0]);
    closer.add(ends[1]);
    closer.close_all();
  }
  while (!closer.empty()) closer.close_all();
  alarm(0);
}

}  // namespace
}  // namespace syscost::ebpf
