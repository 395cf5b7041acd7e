// SPDX-License-Identifier: MIT
//
// The assertions of syscost/gtest.h as a user writes them; the driver runs them with and without a backend.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "syscost/gtest.h"

namespace a_namespace_with_a_long_name_because_generated_code_has_such_names {
namespace another_one_of_the_same_kind_so_that_the_name_of_a_function_has_a_few_hundred_characters {
namespace and_one_more_of_them_which_makes_the_whole_name_longer_than_a_line_of_a_message_may_be {

template <int kCaller>
__attribute__((noinline)) void call_times() {
  for (int i = 0; i < kCaller; ++i) syscall(SYS_getppid);
  asm volatile("" : : : "memory");  // no tail call
}

}  // namespace and_one_more_of_them_which_makes_the_whole_name_longer_than_a_line_of_a_message_may_be
}  // namespace another_one_of_the_same_kind_so_that_the_name_of_a_function_has_a_few_hundred_characters
}  // namespace a_namespace_with_a_long_name_because_generated_code_has_such_names

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

template <int... kCallers>
void call_from_each(std::integer_sequence<int, kCallers...> /*callers*/) {
  // NOLINTBEGIN(google-build-using-namespace): one function of one namespace
  using namespace a_namespace_with_a_long_name_because_generated_code_has_such_names::
      another_one_of_the_same_kind_so_that_the_name_of_a_function_has_a_few_hundred_characters::
          and_one_more_of_them_which_makes_the_whole_name_longer_than_a_line_of_a_message_may_be;
  // NOLINTEND(google-build-using-namespace)
  (call_times<kCallers + 1>(), ...);
}

TEST(ManyLines, FailWithAMessageOfAFewLines) {
  EXPECT_SYSCALLS_EQ("getppid", 0, call_from_each(std::make_integer_sequence<int, 10>()));
}

TEST(Assertions, Hold) {
  EXPECT_SYSCALLS_EQ("getppid", 3, call(3));
  EXPECT_SYSCALLS_LE("getppid", 3, call(3));
  EXPECT_SYSCALLS_EQ("getppid", 3, {
    EXPECT_SYSCALLS_EQ("getppid", 1, call(1));
    call(2);
  });
  EXPECT_SYSCALLS_GE("getppid", 3u, call(3)) << "with a message";
  ASSERT_SYSCALLS_EQ("*", 0, static_cast<void>(0));
  ASSERT_SYSCALLS_LE("%file", 0, call(1));
  ASSERT_SYSCALLS_GE("*", 1, call(1));
}
TEST(Assertions, TakeStatementsWithCommas) {
  EXPECT_SYSCALLS_EQ("getppid", 2, std::map<int, int> pairs; pairs[1] = 2, call(pairs[1]));
}
TEST(Assertions, StandWhereAStatementStands) {
  if (std::getenv("PATH") != nullptr)
    EXPECT_SYSCALLS_EQ("getppid", 1, call(1));
  else
    FAIL();
}
TEST(Assertions, ReadAValueFirst) {
  auto cost = syscost::measure([] { call(2); });
  EXPECT_EQ(cost.calls("getppid"), 2) << cost;
  EXPECT_LE(cost.calls(), 2);
}
TEST(Assertions, FailWithTheBreakdown) {
  EXPECT_SYSCALLS_LE("getppid", 1, call(4));
}
TEST(Assertions, FailFatally) {
  ASSERT_SYSCALLS_EQ("getppid", 0, call(1));
  ADD_FAILURE() << "still here";
}
TEST(Assertions, FailForASelectorThatNamesNothing) {
  EXPECT_SYSCALLS_EQ("wrte", 0, static_cast<void>(0));
}
TEST(Assertions, CountScopesOfTheirOwn) {
  syscost::Scope scope("named scope");
  call(6);
  EXPECT_EQ(scope.stop().calls("getppid"), 6);
}

int g_left = -1;

void open_and_close() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::thread([fd] { close(fd); }).join();
}

TEST(Leaks, AreNoneWhereAllIsClosed) {
  EXPECT_NO_LEAKS(open_and_close());
  ASSERT_NO_LEAKS(int pair[2] = {-1, -1}; EXPECT_EQ(pipe2(pair, O_CLOEXEC), 0); close(pair[0]); close(pair[1]));
}
TEST(Leaks, FailWithWhatIsLeft) {
  EXPECT_NO_LEAKS(g_left = open("/dev/null", O_RDONLY | O_CLOEXEC), call(2));
  close(g_left);
}
TEST(Leaks, ArePartOfATestsRow) {
  g_left = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/// The number of a descriptor that arrives over `pair`: a copy of `fd`.
int received_copy(const int (&pair)[2], int fd) {
  char byte = 'x';
  iovec part = {&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  EXPECT_EQ(sendmsg(pair[0], &message, 0), 1);
  EXPECT_EQ(recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC), 1);
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

TEST(LeaksWithLines, HaveTheLineOfTheLastOpening) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  int pair[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const int copy = fcntl(ends[1], F_DUPFD_CLOEXEC, 0);
  // Its number comes back in a message, so no line of the test has opened what it is now.
  const int before = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  close(before);
  ASSERT_EQ(received_copy(pair, ends[0]), before);
  close(pair[0]);
  close(pair[1]);
  ASSERT_NE(dup3(ends[0], copy, O_CLOEXEC), -1);
}

std::thread* g_running = nullptr;
std::atomic<bool> g_running_ends{false};
void run_until_it_ends() {
  while (!g_running_ends) std::this_thread::yield();
}

TEST(LeaksWithLines, HaveTheLineThatStartedAThreadAndAChild) {
  std::thread([] {}).join();
  g_running = new std::thread(run_until_it_ends);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_GT(child, 0);
}
TEST(LeaksWithLines, AreNoneOfWhatEnds) {
  g_running_ends = true;
  g_running->join();
  delete g_running;
  while (waitpid(-1, nullptr, 0) > 0) {
  }
}

/// Its set-up opens two files, and its tear-down closes one of them. A thread runs from the one to the other.
class LeaksOfSuite : public testing::Test {
 public:
  static void SetUpTestSuite() {
    closed_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    left_ = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    thread_ = new std::thread([] {
      while (!ends_) std::this_thread::yield();
    });
  }
  static void TearDownTestSuite() {
    ends_ = true;
    thread_->join();
    delete thread_;
    close(closed_);
  }

 private:
  static int closed_, left_;
  static std::atomic<bool> ends_;
  static std::thread* thread_;
};
int LeaksOfSuite::closed_ = -1, LeaksOfSuite::left_ = -1;
std::atomic<bool> LeaksOfSuite::ends_{false};
std::thread* LeaksOfSuite::thread_ = nullptr;

TEST_F(LeaksOfSuite, AreNotThoseOfItsTests) {
  EXPECT_NO_LEAKS(call(1));
}
TEST_F(LeaksOfSuite, AreNotThoseOfItsLastTest) {
  call(1);
}

TEST(Memory, HasThePeakThatItRaised) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("its own reading: %ld KiB\n", usage.ru_maxrss);
  munmap(memory, kBytes);
}
TEST(Memory, HasNoPeakWhereItWasHigherBefore) {
  std::vector<char> some(1 << 20, 'x');
  EXPECT_EQ(some.back(), 'x');
}

TEST(LeaksAtExit, AreNone) {
  if (std::getenv("LEAKS_AT_EXIT") == nullptr) GTEST_SKIP();
  g_left = open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::exit(0);
}

}  // namespace
