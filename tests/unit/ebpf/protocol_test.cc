// SPDX-License-Identifier: MIT
//
// The protocol of helper and clients: a message arrives whole and with its descriptors, or not at all.
#include "backends/ebpf/helper/protocol.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace syscost::ebpf {
namespace {

class ProtocolTest : public testing::Test {
 protected:
  ProtocolTest() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_), 0); }
  ~ProtocolTest() override {
    for (const int end : ends_) close(end);
  }
  int ends_[2] = {-1, -1};
};

std::string name_of(const Address& address) {
  return {address.name.sun_path, address.size - offsetof(sockaddr_un, sun_path)};
}

/// The lowest descriptor that is free: the same before and after, and none was left open.
int next_descriptor() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(fd);
  return fd;
}

TEST_F(ProtocolTest, AnAnswerBringsItsDescriptorsCloseOnExec) {
  Answer sent;
  sent.cookie = 17;
  ASSERT_TRUE(send_message(ends_[0], &sent, sizeof sent, {{ends_[0], ends_[1]}, 2}));
  Answer received;
  PassedDescriptors passed;
  ASSERT_TRUE(receive_message(ends_[1], &received, sizeof received, &passed));
  EXPECT_EQ(received.cookie, 17U);
  ASSERT_EQ(passed.count, 2U);
  for (std::size_t i = 0; i < passed.count; ++i) {
    EXPECT_EQ(fcntl(passed.descriptors[i], F_GETFD), FD_CLOEXEC);
    close(passed.descriptors[i]);
  }
}

TEST_F(ProtocolTest, AMessageOfAnotherSizeIsRefusedAndItsDescriptorsAreClosed) {
  for (const std::size_t size : {sizeof(Answer) - 1, sizeof(Answer) + 1}) {
    const std::string nonsense(size, 'x');
    ASSERT_TRUE(send_message(ends_[0], nonsense.data(), nonsense.size(), {{ends_[0]}, 1}));
    const int before = next_descriptor();
    Answer received;
    PassedDescriptors passed;
    EXPECT_FALSE(receive_message(ends_[1], &received, sizeof received, &passed));
    EXPECT_EQ(errno, EBADMSG);
    EXPECT_EQ(passed.count, 0U);
    EXPECT_EQ(next_descriptor(), before);
  }
}

TEST_F(ProtocolTest, AnEndThatIsGoneIsNoError) {
  close(ends_[0]);
  ends_[0] = -1;
  Question received;
  EXPECT_FALSE(receive_message(ends_[1], &received, sizeof received, nullptr));
  EXPECT_EQ(errno, 0);
}

TEST_F(ProtocolTest, AQuestionsDescriptorsAreNotTaken) {
  const Question sent = join_question({});
  ASSERT_TRUE(send_message(ends_[0], &sent, sizeof sent, {{ends_[0], ends_[1]}, 2}));
  const int before = next_descriptor();
  Question received;
  ASSERT_TRUE(receive_message(ends_[1], &received, sizeof received, nullptr));
  EXPECT_EQ(received.request, Request::join);
  EXPECT_EQ(next_descriptor(), before);
}

TEST_F(ProtocolTest, AnAnswerThatFindsTooFewFreeDescriptorsBringsTheFirst) {
  Answer sent;
  sent.cookie = 17;
  ASSERT_TRUE(send_message(ends_[0], &sent, sizeof sent, {{ends_[0], ends_[1]}, 2}));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = next_descriptor();
  const rlimit one{static_cast<rlim_t>(free) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one), 0);
  Answer received;
  PassedDescriptors passed;
  EXPECT_TRUE(receive_message(ends_[1], &received, sizeof received, &passed));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(received.cookie, 17U);
  EXPECT_TRUE(passed.is_short);
  ASSERT_EQ(passed.count, 1U);
  EXPECT_EQ(passed.descriptors[0], free);
  passed.close_all();
  EXPECT_EQ(next_descriptor(), free);
}

TEST_F(ProtocolTest, DetailsArriveAsTheyWereAskedFor) {
  DetailRequest asked{true,
                      {{.device = 1, .device_mask = 2, .request = 3, .request_mask = 4}},
                      {"cuda-", "fifteen letters and more"},
                      true};
  const DetailRequest arrived = request_of(join_question({.details = asked})).details;
  EXPECT_TRUE(arrived.ioctls);
  EXPECT_TRUE(arrived.files);
  ASSERT_EQ(arrived.rules.size(), 1U);
  EXPECT_EQ(arrived.rules[0].request_mask, 4U);
  EXPECT_EQ(arrived.driver_threads, (std::vector<std::string>{"cuda-", "fifteen letters"}));
}

TEST_F(ProtocolTest, NumbersInAQuestionAreNotBelieved) {
  Question question = join_question({});
  question.wanted.fill(~0U);
  question.rule_count = 255;
  question.driver_thread_count = 255;
  for (auto& name : question.driver_threads) name.fill('x');  // no zero at the end
  const ProgramRequest request = request_of(question);
  for (std::size_t i = 0; i < program_groups().size(); ++i) EXPECT_EQ(request.wanted[i], program_groups()[i]->most());
  const DetailRequest& details = request.details;
  EXPECT_EQ(details.rules.size(), kMaxRequestRules);
  ASSERT_EQ(details.driver_threads.size(), kMaxDriverThreads);
  EXPECT_EQ(details.driver_threads[0], std::string(kMaxThreadName, 'x'));
}

TEST_F(ProtocolTest, AReasonThatIsTooLongArrivesCut) {
  const Failure longest{std::string(2000, 'r'), "do this"};
  const Failure arrived = failure_of(failed_answer(longest));
  EXPECT_EQ(arrived.reason, std::string(479, 'r'));
  EXPECT_EQ(arrived.how_to_fix, "do this");
}

TEST_F(ProtocolTest, EachUserHasANameAndEveryoneHasOne) {
  EXPECT_NE(name_of(address_of(1)), name_of(address_of(2)));
  EXPECT_EQ(name_of(address_for_everyone()).rfind("/run/syscost/", 0), 0U) << "where only root can put it";
  EXPECT_EQ(name_of(address_of(1)), name_of(address_of(1)));
  EXPECT_EQ(name_of(address_of(1))[0], '\0') << "in the abstract namespace";
}

}  // namespace
}  // namespace syscost::ebpf
