// SPDX-License-Identifier: MIT
//
// The process of the test: it executes another program, leaves the tests to a child, ends, or calls itself something
// else.
#include <linux/capability.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_raw;
using attack::raw_fork;
using attack::run_loop;
using conformance::raw;

/// The main thread has ended, and what is left of it waits for the others.
bool main_thread_is_gone() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_ends = line.rfind(") ");
  return name_ends != std::string::npos && line.compare(name_ends, 3, ") Z") == 0;
}

}  // namespace

HOSTILE(execve_fails, 20, "execve fails, because the program is missing or an address is bad") {
  char* none[] = {nullptr};
  EXPECT_EQ(raw(SYS_execve, "/nonexistent", none, none), -ENOENT);
  EXPECT_EQ(raw(SYS_execve, "/dev/null", none, none), -EACCES);
  EXPECT_EQ(raw(SYS_execve, nullptr, none, none), -EFAULT);
  EXPECT_LT(raw(SYS_execveat, -1, "", none, none, 0), 0);
  call_both(10);
}

HOSTILE(executes, 0, "the test itself executes another program, which ends with 0") {
  execl("/bin/true", "true", nullptr);
}

HOSTILE(thread_executes, 0, "another thread executes another program while the test makes calls") {
  std::thread([] { execl("/bin/true", "true", nullptr); }).detach();
  for (;;) call_raw(1);
}

HOSTILE(becomes_a_daemon, 20, "calls daemon(): the parent ends with 0, the child continues the tests") {
  ASSERT_EQ(daemon(1, 1), 0);
  call_both(10);
}

HOSTILE(child_takes_over, 20, "forks, and the parent ends by exit_group(0) while the child continues the tests") {
  if (raw_fork() != 0) raw(SYS_exit_group, 0);
  call_both(10);
}

HOSTILE(parent_waits_for_successor, 20,
        "forks, and the parent waits for the child, which continues the tests, and ends with its exit code") {
  const pid_t child = fork();
  if (child != 0) {
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  call_both(10);
}

HOSTILE(exits_from_a_thread, 0, "a thread calls exit(0) while the test runs") {
  std::thread([] { std::exit(0); }).detach();
  for (;;) pause();
}

HOSTILE(exits, 20, "the test calls exit(0)") {
  call_both(10);
  std::exit(0);
}

HOSTILE(quick_exits, 20, "the test calls quick_exit(0)") {
  call_both(10);
  std::quick_exit(0);
}

HOSTILE(exits_by_syscall, 20, "the test ends the process by exit_group(0)") {
  call_both(10);
  raw(SYS_exit_group, 0);
}

HOSTILE(main_thread_ends, 0, "the main thread ends alone, then another thread calls _exit(0)") {
  std::thread([] {
    while (!main_thread_is_gone()) sched_yield();
    _exit(0);
  }).detach();
  raw(SYS_exit, 0);
}

HOSTILE(kills_itself, 0, "the test kills its process with SIGKILL") {
  kill(getpid(), SIGKILL);
}

HOSTILE(aborts, 0, "the test aborts") {
  std::abort();
}

HOSTILE(errno_after_measured_code, 10, "looks at errno after measured code, in a scope and in a loop") {
  attack::in_scope([] { errno = ERANGE; });
  EXPECT_EQ(errno, ERANGE);
  call_both(5);
  errno = EDOM;
  run_loop();
  EXPECT_EQ(errno, EDOM);
}

HOSTILE(locks_all_memory, 40, "locks all of its memory (mlockall), present and future") {
  if (geteuid() != 0 || prctl(PR_CAPBSET_READ, CAP_IPC_LOCK) != 1) GTEST_SKIP() << "needs CAP_IPC_LOCK";
  call_both(5);
  ASSERT_EQ(mlockall(MCL_CURRENT | MCL_FUTURE), 0);
  std::thread([] { call_both(10); }).join();
  call_both(5);
  munlockall();
}

HOSTILE(takes_our_names, 40, "gives itself and a thread the names of syscost's helpers") {
  prctl(PR_SET_NAME, "syscost-guard", 0, 0, 0);
  std::thread([] {
    prctl(PR_SET_NAME, "syscost-count", 0, 0, 0);
    call_both(10);
  }).join();
  call_both(10);
}

HOSTILE(rewrites_its_arguments, 20,
        "overwrites its arguments and environment, as programs do to show their state in ps") {
  extern char** environ;
  char* const first = program_invocation_name;
  std::memset(first, 'x', std::strlen(first));
  for (char** entry = environ; *entry != nullptr; ++entry) std::memset(*entry, 'x', std::strlen(*entry));
  call_both(10);
  run_loop();
}
