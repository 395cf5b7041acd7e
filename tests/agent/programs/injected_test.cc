// SPDX-License-Identifier: MIT
//
// A program into whose process syscost was put sees nothing of that. Linked statically.
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

// ---- signals, at any time -------------------------------------------------------------------------------------------

constexpr unsigned kMark = 0x5eed;
thread_local volatile unsigned t_mark = kMark;
std::atomic<int> g_signals{0};
std::atomic<int> g_strangers{0};

void on_timer(int /*signal*/) {
  ++g_signals;
  if (t_mark != kMark) ++g_strangers;
  t_mark = kMark;
  errno = 0;
}

struct Timer {
  Timer() { set(100); }
  ~Timer() { set(0); }
  static void set(int microseconds) {
    signal(SIGALRM, on_timer);
    const itimerval times{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &times, nullptr);
  }
};

// Most of the process's time passes between tests.
class Signals : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { timer_ = new Timer; }
  static void TearDownTestSuite() { delete timer_; }
  static Timer* timer_;
};
Timer* Signals::timer_ = nullptr;
TEST_P(Signals, FindTheirThread) {
  EXPECT_EQ(g_strangers.load(), 0);
}
INSTANTIATE_TEST_SUITE_P(Many, Signals, testing::Range(0, 100));

// ---- what the process has -------------------------------------------------------------------------------------------

TEST(Process, HasNoChildAndNoSignalOfOurs) {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  sigset_t set;
  sigpending(&set);
  EXPECT_EQ(sigismember(&set, SIGCHLD), 0);
  sigprocmask(SIG_SETMASK, nullptr, &set);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1}) EXPECT_EQ(sigismember(&set, signal), 0);
}

TEST(Process, IsNotTracedAndHasOneThread) {
  std::ifstream status("/proc/self/status");
  int tracer = -1;
  int threads = -1;
  for (std::string word; status >> word;) {
    if (word == "TracerPid:") status >> tracer;
    if (word == "Threads:") status >> threads;
  }
  EXPECT_EQ(tracer, 0);
  EXPECT_EQ(threads, 1);
}

TEST(Process, HasItsOwnEnvironment) {
  EXPECT_EQ(std::getenv("LD_PRELOAD"), nullptr);
  for (char** one = environ; *one != nullptr; ++one) {
    EXPECT_EQ(std::string(*one).rfind("_SYSCOST", 0), std::string::npos) << *one;
  }
  const std::string file = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  EXPECT_NE(file.find("agent_injected"), std::string::npos) << file;
}

// Two allocators would take the same memory from the end of the heap.
TEST(Process, HasItsOwnHeap) {
  std::vector<std::vector<char>> blocks;
  for (int i = 0; i < 2000; ++i) blocks.emplace_back(2000 + i, static_cast<char>(i));
  blocks.resize(10);
  blocks.shrink_to_fit();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(blocks[i].front(), static_cast<char>(i));
}
TEST(Process, HasItsOwnHeapStill) {
  void* const end = sbrk(1 << 20);
  EXPECT_NE(end, reinterpret_cast<void*>(-1));
  for (int i = 0; i < 1 << 20; i += 4096) EXPECT_EQ(static_cast<char*>(end)[i], 0);
}

// ---- what a test may do ---------------------------------------------------------------------------------------------

struct Thrower : testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (std::string(result.message()).find("thrown") != std::string::npos) throw 7;
  }
};
TEST(Tests, AListenerMayThrow) {
  auto* const thrower = new Thrower;
  testing::UnitTest::GetInstance()->listeners().Append(thrower);
  int caught = 0;
  try {
    SUCCEED() << "thrown";
  } catch (int value) {
    caught = value;
  }
  delete testing::UnitTest::GetInstance()->listeners().Release(thrower);
  EXPECT_EQ(caught, 7);
}

TEST(Tests, ThreadsMakeResults) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) SUCCEED() << std::string(1000, 'x');
      call(2);
    });
  }
  for (std::thread& one : threads) one.join();
}

TEST(Tests, AChildEndsByItself) {
  call(5);
  const pid_t child = fork();
  if (child == 0) {
    SUCCEED();
    std::exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  call(6);
}

TEST(Tests, DISABLED_EndsTheProcess) {
  call(9);
  std::exit(4);
}

}  // namespace
