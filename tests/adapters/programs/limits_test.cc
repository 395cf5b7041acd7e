// SPDX-License-Identifier: MIT
//
// Where measuring meets its limits: more distinct syscalls than there are slots, a call restarted under a filter,
// windows that open and close among calling threads, sandboxes, programs that a test starts, children of a test that
// closed every descriptor.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "syscost/syscost.h"

namespace {

TEST(Limits, MoreDistinctSyscallsThanSlots) {
  for (int round = 0; round < 3; ++round) {
    for (long number = 700; number < 900; ++number) syscall(number);
  }
}

// ---- the end of the process
// ------------------------------------------------------------------------------------------

/// Ends, or leaves, the process in the way that SYSCOST_TEST_ENDS names.
TEST(Ends, InTheMiddle) {
  for (int i = 0; i < 4; ++i) syscall(SYS_getppid);
  const char* variable = std::getenv("SYSCOST_TEST_ENDS");
  const std::string how = variable != nullptr ? variable : "";
  if (how == "exit") std::exit(0);
  if (how == "exit elsewhere") std::thread([] { std::exit(0); }).join();
  // The parent ends with 0 in there; the child goes on, and prints where the parent did.
  if (how == "daemon" && daemon(1, 1) != 0) ADD_FAILURE() << "no daemon";
}
TEST(Ends, ComesAfter) {
  syscall(SYS_getppid);
}

// ---- the file of the rows
// -------------------------------------------------------------------------------------------

TEST(File, One) {
  syscall(SYS_getppid);
}
/// Does to SYSCOST_CSV what SYSCOST_TEST_DOES names, as a test that cleans its folder.
TEST(File, Two) {
  const char* const does = std::getenv("SYSCOST_TEST_DOES");
  const char* const file = std::getenv("SYSCOST_CSV");
  const std::string what = does != nullptr ? does : "";
  EXPECT_TRUE(what != "unlink" || unlink(file) == 0);
  EXPECT_TRUE(what != "truncate" || truncate(file, 0) == 0);
}
TEST(File, Three) {
  syscall(SYS_getppid);
}

// ---- a restarted call -----------------------------------------------------------------------------------------------

std::atomic<int> signals{0};

bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] == 'S';
}

TEST(Signals, RestartAReceive) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer keeps signals from a thread that is blocked";
#endif
  struct sigaction action {};
  action.sa_handler = [](int) { ++signals; };
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  std::array<int, 2> sockets{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  std::atomic<pid_t> receiver_id{0};
  std::thread receiver([&] {
    char byte = 0;
    receiver_id = gettid();
    // Nothing else in this thread sleeps from here on.
    EXPECT_EQ(recv(sockets[0], &byte, 1, 0), 1);
  });
  while (receiver_id == 0) continue;
  for (int i = 0; i < 3; ++i) {
    while (!sleeps(receiver_id)) continue;
    pthread_kill(receiver.native_handle(), SIGUSR1);
    while (signals == i) continue;
  }
  while (!sleeps(receiver_id)) continue;
  EXPECT_EQ(send(sockets[1], "x", 1, 0), 1);
  receiver.join();
  close(sockets[0]);
  close(sockets[1]);
}

// ---- windows among calling threads ----------------------------------------------------------------------------------

TEST(Stress, WindowsAmongCallingThreads) {
  constexpr int kThreads = 6;
  constexpr int kWindows = 400;
  std::atomic<bool> may_end{false};
  std::atomic<std::uint64_t> made{0};
  std::vector<std::thread> threads;
  syscost::Scope all(syscost::Reach::process);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::uint64_t own = 0;
      while (!may_end) {
        // Some call on the process's lane, some on one of their own.
        if (i % 2 == 0) {
          syscall(SYS_getppid);
          ++own;
          continue;
        }
        const syscost::Cost cost = syscost::measure([] {
          for (int j = 0; j < 5; ++j) syscall(SYS_getppid);
        });
        own += 5;
        EXPECT_EQ(cost.calls("getppid"), 5) << cost;
      }
      made += own;
    });
  }
  for (int i = 0; i < kWindows; ++i) {
    const syscost::Cost cost = syscost::measure([] { syscall(SYS_getuid); }, syscost::Reach::process);
    EXPECT_EQ(cost.calls("getuid"), 1) << cost;
  }
  may_end = true;
  for (std::thread& thread : threads) thread.join();
  const syscost::Cost cost = all.stop();
  EXPECT_EQ(cost.lost(), 0);
  EXPECT_EQ(cost.calls("getppid"), made.load());
  EXPECT_EQ(cost.calls("getuid"), kWindows);
}

// ---- a sandbox ------------------------------------------------------------------------------------------------------

/// From now on this thread's `number` fails with EPERM, and that of threads it makes.
bool deny(std::uint32_t number) {
  std::array<sock_filter, 4> filter = {{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// A thread without gettid measures one call, or the reason why it cannot has `word`.
void measure_without_gettid(const char* word) {
  std::thread([&] {
    ASSERT_TRUE(deny(SYS_gettid));
    const syscost::Cost cost = syscost::measure([] { syscall(SYS_getppid); });
    if (cost.available()) {
      EXPECT_EQ(cost.calls("getppid"), 1) << cost;
    } else {
      EXPECT_NE(cost.unavailable()->reason.find(word), std::string::npos) << cost;
    }
  }).join();
}

TEST(Sandbox, DeniesGettidToTheFirstThatMeasures) {
  measure_without_gettid("seccomp");  // a backend that does not need gettid may take over
}
TEST(Sandbox, DeniesGettidToAThread) {
  EXPECT_EQ(syscost::measure([] { syscall(SYS_getppid); }).calls("getppid"), 1);
  measure_without_gettid("gettid");  // dispatch knew this thread before the filter
  EXPECT_EQ(syscost::measure([] { syscall(SYS_getppid); }).calls("getppid"), 1);
}
TEST(Sandbox, DeniesGettidToTheTest) {
  ASSERT_TRUE(deny(SYS_gettid));
  syscall(SYS_getppid);
}
TEST(Sandbox, DeniesSendmsgToTheTest) {
  ASSERT_TRUE(deny(SYS_sendmsg));
  syscall(SYS_getppid);
}
TEST(Sandbox, DeniesFstatToTheTest) {
  ASSERT_TRUE(deny(SYS_fstat));
  syscall(SYS_getppid);
}
TEST(Sandbox, DeniesNewfstatatToTheTest) {
  ASSERT_TRUE(deny(SYS_newfstatat));
  syscall(SYS_getppid);
}
TEST(Sandbox, DeniesBpfToTheTest) {
  ASSERT_TRUE(deny(SYS_bpf));
  syscall(SYS_getppid);
}

// ---- programs -------------------------------------------------------------------------------------------------------

TEST(Programs, ThatATestStarts) {
  if (const char* program = std::getenv("SYSCOST_TEST_PROGRAM")) {
    ASSERT_EQ(std::system(program), 0);
  }
}

// ---- children -------------------------------------------------------------------------------------------------------

// A fork child closes what it inherited of ours, by number. Those numbers may be files of the test's by now.
TEST(Descriptors, OfAChildThatWasForkedAfterAllWereClosed) {
  ASSERT_EQ(syscall(SYS_close_range, 3U, ~0U, 0U), 0);
  const int file = open("/dev/null", O_RDONLY);
  ASSERT_EQ(file, 3);
  for (int number = 900; number < 1024; ++number) ASSERT_EQ(dup2(file, number), number);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int closed = fcntl(file, F_GETFD) < 0 ? 1 : 0;
    for (int number = 900; number < 1024; ++number) closed += fcntl(number, F_GETFD) < 0 ? 1 : 0;
    _exit(closed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status) << " descriptors were closed in the child";
  for (int number = 900; number < 1024; ++number) close(number);
  close(file);
}
TEST(Descriptors, OfTheTestAfterThat) {
  EXPECT_EQ(syscost::measure([] { syscall(SYS_getppid); }).calls("getppid"), 1);
}

}  // namespace
