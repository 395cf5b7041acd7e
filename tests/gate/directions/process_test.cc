// SPDX-License-Identifier: MIT
//
// Changes in how programs use memory, processes and time. Above each test: the public project that made the change, and
// the change.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "form.h"

namespace directions {
namespace {

void* map(std::size_t size) {
  void* made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(made, MAP_FAILED);
  return made;
}

// facebookincubator/velox 5413: large allocations ask for huge pages.
TEST(Memory, AdviceOnPages) {
  for (int i = 0; i < 4; ++i) {
    void* made = map(4 << 20);
    if (is_new()) madvise(made, 4 << 20, MADV_HUGEPAGE);
    munmap(made, 4 << 20);
  }
}

// canonical/ubuntu-frame 213: what was mapped is unmapped.
TEST(Memory, UnmappedAtLast) {
  for (int i = 0; i < 6; ++i) {
    void* made = map(65536);
    if (is_new()) munmap(made, 65536);
  }
}

// The same the other way round, as the fault had come in.
TEST(Memory, UnmapForgotten) {
  for (int i = 0; i < 6; ++i) {
    void* made = map(65536);
    if (!is_new()) munmap(made, 65536);
  }
}

// ninja-build/ninja 1118: posix_spawn in the place of fork and exec.
TEST(Processes, SpawnInThePlaceOfFork) {
  char* arguments[] = {const_cast<char*>("true"), nullptr};
  for (int i = 0; i < 3; ++i) {
    pid_t child = -1;
    if (is_new()) {
      ASSERT_EQ(posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ), 0);
    } else if ((child = fork()) == 0) {
      execv("/bin/true", arguments);
      _exit(127);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
  }
}

// DynamoRIO/dynamorio 228: a thread keeps its number.
TEST(Processes, NumberOfTheThreadIsKept) {
  long kept = 0;
  for (int i = 0; i < 50; ++i) {
    if (!is_new() || kept == 0) kept = syscall(SYS_gettid);
  }
  EXPECT_GT(kept, 0);
}

// zecure/shadowd 88: short waits that grow in the place of one long wait.
TEST(Waits, ThatGrow) {
  using std::chrono::milliseconds;
  if (!is_new()) {
    std::this_thread::sleep_for(milliseconds(40));
    return;
  }
  for (int wait = 1; wait <= 8; wait *= 2) std::this_thread::sleep_for(milliseconds(wait));
}

int write_end = -1;

void write_on_alarm(int) {
  const int kept = errno;
  write_all(write_end, "x");
  errno = kept;
}

// kohlschutter/junixsocket 42: a read that a signal interrupts is made again.
TEST(Waits, AgainAfterASignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  write_end = ends[1];
  struct sigaction action {};
  action.sa_handler = write_on_alarm;  // without SA_RESTART
  sigaction(SIGALRM, &action, nullptr);
  const itimerval once{{0, 0}, {0, 300000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  char byte = 0;
  ssize_t got = read(ends[0], &byte, 1);
  EXPECT_EQ(got, -1);
  if (is_new()) {
    while (got < 0 && errno == EINTR) got = read(ends[0], &byte, 1);
    EXPECT_EQ(got, 1);
  }
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace directions
