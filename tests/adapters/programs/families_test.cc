// SPDX-License-Identifier: MIT
//
// Families that are hard to follow: orphans, threads, an execve by a second thread, PID namespaces, children that are
// killed or outlive their test. Children make a known number of calls to getppid; the driver (children_test.py) runs it
// and looks at its rows.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "syscost/gtest.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

/// Two ends; a byte is a signal, the end of the file another.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    for (const int end : ends_) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void tell() const {
    const char byte = 0;
    if (write(ends_[1], &byte, 1) != 1) _exit(99);
  }
  void wait() const {
    char byte = 0;
    if (read(ends_[0], &byte, 1) != 1) _exit(98);
  }

 private:
  std::array<int, 2> ends_{};
};

template <class Body>
pid_t start(Body body) {
  const pid_t child = fork();
  if (child != 0) return child;
  body();
  _exit(0);
}

/// The exit status as waitpid() has it.
int reap(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

/// Returns once `thread` sleeps inside `number`.
void wait_until_blocked_in(pid_t thread, long number) {
  const std::string path = "/proc/" + std::to_string(thread) + "/syscall";
  for (long inside = -1; inside != number;) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    ASSERT_NE(file, nullptr);
    if (std::fscanf(file, "%ld", &inside) != 1) inside = -1;  // "running"
    std::fclose(file);
  }
}

std::string beside_us(const char* name) {
  std::string own(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", own.data(), own.size());
  own.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return own.substr(0, own.rfind('/') + 1) + name;
}
const std::string kChildProgram = beside_us("adapter_child");
const std::string kChildProgram32 = beside_us("adapter_child_32");

constexpr int kNotExecuted = 97;

[[noreturn]] void execute(const std::string& program, const char* times) {
  execl(program.c_str(), program.c_str(), times, nullptr);
  _exit(kNotExecuted);
}

// ---- what is a child ------------------------------------------------------------------------------------------------

TEST(Families, ThreadsOfAChild) {
  EXPECT_EQ(reap(start([] {
              std::vector<std::thread> threads;
              for (int i = 0; i < 3; ++i) threads.emplace_back([] { call(10); });
              for (std::thread& thread : threads) thread.join();
            })),
            0);
}

TEST(Families, ChildrenOfAThread) {
  std::thread([] { EXPECT_EQ(reap(start([] { call(4); })), 0); }).join();
}

TEST(Families, Orphan) {
  Pipe parent_is_gone, done;
  EXPECT_EQ(reap(start([&] {
              start([&] {
                parent_is_gone.wait();
                call(5);
                done.tell();
              });
            })),
            0);
  parent_is_gone.tell();
  done.wait();
}

TEST(Families, Vforked) {
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): it is what is tested
  const pid_t child = vfork();
  if (child == 0) execute(kChildProgram, "3");
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  EXPECT_EQ(reap(child), 0);
}

TEST(Families, ExecutedBySecondThread) {
  EXPECT_EQ(reap(start([] { std::thread([] { execute(kChildProgram, "6"); }).join(); })), 0);
}

TEST(Families, ExecutedTwice) {
  const std::string shell = "exec " + kChildProgram + " 8";
  EXPECT_EQ(reap(start([&] { execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr); })), 0);
}

TEST(Families, ThatCannotBeExecuted) {
  EXPECT_EQ(reap(start([] {
              execl("/nowhere/to/be/found", "found", nullptr);
              call(2);
            })),
            0);
}

TEST(Families, InAPidNamespace) {
  const auto child = static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child < 0) GTEST_SKIP() << "needs CAP_SYS_ADMIN";
  if (child == 0) {
    call(4);
    const pid_t second = fork();
    if (second == 0) execute(kChildProgram, "2");
    int status = 0;
    waitpid(second, &status, 0);
    _exit(getpid() == 1 ? 0 : 1);
  }
  EXPECT_EQ(reap(child), 0);
}

TEST(Families, Of32Bits) {
  if (access(kChildProgram32.c_str(), X_OK) != 0) GTEST_SKIP() << "needs a compiler for 32 bits";
  const int status = reap(start([] { execute(kChildProgram32, ""); }));
  if (WEXITSTATUS(status) == kNotExecuted) GTEST_SKIP() << "this kernel executes no program of 32 bits";
  EXPECT_EQ(status, 0);
}

TEST(Families, OfADeathTest) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_EXIT(
      {
        call(3);
        _exit(7);
      },
      testing::ExitedWithCode(7), "");
}

/// Not a handshake: tools that watch make calls of their own now and then, and must get the time to.
TEST(Families, Waiting) {
  EXPECT_EQ(reap(start([] {
              for (int i = 0; i < 3; ++i) close(-1);
              poll(nullptr, 0, 500);
            })),
            0);
}

TEST(Families, Crowd) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(start([] {
      std::vector<std::thread> threads;
      for (int thread = 0; thread < 4; ++thread) threads.emplace_back([] { call(500); });
      for (std::thread& thread : threads) thread.join();
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(reap(child), 0);
}

// ---- what a child's call was ----------------------------------------------------------------------------------------

TEST(Families, Failing) {
  EXPECT_EQ(reap(start([] {
              for (int i = 0; i < 3; ++i) close(-1);
              fcntl(-1, F_GETFD);
            })),
            0);
}

TEST(Families, KilledInACall) {
  const pid_t child = start([] { pause(); });
  wait_until_blocked_in(child, SYS_pause);
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(reap(child), SIGKILL);
}

TEST(Families, Interrupted) {
  const pid_t child = start([] {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, nullptr);
    pause();
  });
  wait_until_blocked_in(child, SYS_pause);
  EXPECT_EQ(kill(child, SIGUSR1), 0);
  EXPECT_EQ(reap(child), 0);
}

// ---- windows --------------------------------------------------------------------------------------------------------

TEST(Families, BlockedAcrossAScope) {
  Pipe go, back;
  const pid_t child = start([&] {
    go.wait();
    back.tell();
    go.wait();
  });
  wait_until_blocked_in(child, SYS_read);
  {
    syscost::Scope scope("part", syscost::Reach::process);
    go.tell();
    back.wait();
    wait_until_blocked_in(child, SYS_read);
  }
  go.tell();
  EXPECT_EQ(reap(child), 0);
}

struct Left {
  Pipe go;
  pid_t child = 0;
};
Left* g_left = nullptr;

TEST(Outliving, Starts) {
  g_left = new Left;
  g_left->child = start([] {
    call(1);
    g_left->go.wait();
    call(7);
  });
  wait_until_blocked_in(g_left->child, SYS_read);
}

TEST(Outliving, IsGoneOnWith) {
  g_left->go.tell();
  EXPECT_EQ(reap(g_left->child), 0);
  delete g_left;
}

/// The child works once somebody opens the FIFO for writing, and says into it how many of its calls succeeded.
TEST(Outliving, TheRun) {
  const char* fifo = std::getenv("SYSCOST_TEST_OUTLIVE");
  if (fifo == nullptr) GTEST_SKIP() << "the driver says until when";
  start([&] {
    syscall(SYS_close_range, 0U, ~0U, 0U);
    const int told = open(fifo, O_RDONLY);
    char end = 0;
    if (read(told, &end, 1) != 0) _exit(1);
    close(told);  // else our own end would be somebody to write to
    char succeeded = '0';
    for (int i = 0; i < 5; ++i) succeeded = static_cast<char>(succeeded + (syscall(SYS_getppid) > 0 ? 1 : 0));
    const int answer = open(fifo, O_WRONLY);
    _exit(write(answer, &succeeded, 1) == 1 ? 0 : 1);
  });
}

// The child is born in a pass that is not counted, and works in those that are: 2 calls for each byte.
TEST(Families, StartedInATimedPass) {
  Pipe ask, answer;
  pid_t child = 0;
  for (auto it : syscost::loop("asking")) {
    if (child == 0) {
      child = start([&] {
        for (;;) {
          ask.wait();
          call(2);
          answer.tell();
        }
      });
    }
    ask.tell();
    answer.wait();
  }
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(reap(child), SIGKILL);
}

// ---- limits ---------------------------------------------------------------------------------------------------------

TEST(Families, OfManyPrograms) {
  const char* folder = std::getenv("SYSCOST_TEST_PROGRAMS");
  if (folder == nullptr) GTEST_SKIP() << "the driver makes them";
  for (int i = 0; i < 40; ++i) {
    const std::string program = std::string(folder) + "/program" + std::to_string(i);
    EXPECT_EQ(reap(start([&] { execute(program, "1"); })), 0);
  }
}

}  // namespace
