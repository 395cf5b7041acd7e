// SPDX-License-Identifier: MIT
//
// Children: those that libc knows nothing of, those that share what processes do not share, and how they end.
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::raw_fork;
using attack::run_loop;
using conformance::raw;

void expect_clean_end(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, __WALL), child);
  EXPECT_EQ(status, 0);
}

/// A process, not a thread, that shares what `flags` say; `work` makes calls and nothing else.
pid_t start_sharing(int flags, int (*work)(void*)) {
  constexpr std::size_t kBytes = std::size_t{256} * 1024;
  char* stack = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return clone(work, stack + kBytes, flags | SIGCHLD, nullptr);
}

}  // namespace

namespace {

/// In a child: gives up root, if it has it, and then does its worst with what it inherited.
void give_up_rights() {
  raw(SYS_setresgid, 65534, 65534, 65534);
  raw(SYS_setresuid, 65534, 65534, 65534);
}

/// Adds a thousand to each small number in memory that other processes share.
void raise_numbers_in_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::array<char, 8> rights{};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights.data()) != 3) continue;
    if (rights[1] != 'w' || rights[3] != 's') continue;
    for (auto* word = reinterpret_cast<volatile std::uint64_t*>(begin); word != reinterpret_cast<void*>(end); ++word) {
      const std::uint64_t number = *word;
      if (number >= 3 && number < 100) *word = number + 1000;
    }
  }
}

/// Sends a byte and an empty message over each socket.
void speak_on_sockets() {
  for (int number = 3; number < 1100; ++number) {
    raw(SYS_sendto, number, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
    raw(SYS_sendto, number, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
  }
}

void shut_sockets_down() {
  for (int number = 3; number < 1100; ++number) raw(SYS_shutdown, number, SHUT_RDWR);
}

/// Calls before, while such a child lives, and after it.
void call_beside(pid_t (*start)(), void (*harm)()) {
  call_both(5);
  const pid_t child = start();
  if (child == 0) {
    give_up_rights();
    harm();
    raw(SYS_exit_group, 0);
  }
  expect_clean_end(child);
  call_both(5);
}

}  // namespace

HOSTILE(fork_child_writes_shared_memory, 20, "a child of fork gives up root and raises numbers in shared memory") {
  call_beside(fork, raise_numbers_in_shared_memory);
}

HOSTILE(raw_fork_child_writes_shared_memory, 20,
        "a child of raw fork gives up root and raises numbers in shared memory") {
  call_beside(raw_fork, raise_numbers_in_shared_memory);
}

HOSTILE(raw_fork_child_speaks_on_sockets, 20, "a child of raw fork gives up root and sends bytes over each socket") {
  call_beside(raw_fork, speak_on_sockets);
  run_loop();
}

HOSTILE(fork_child_shuts_sockets_down, 20, "a child of fork gives up root and shuts each socket down") {
  call_beside(fork, shut_sockets_down);
  run_loop();
}

HOSTILE(raw_fork_child_shuts_sockets_down, 20, "a child of raw fork gives up root and shuts each socket down") {
  call_beside(raw_fork, shut_sockets_down);
}

HOSTILE(raw_fork_and_loop, 0, "a child of _Fork stays while a loop runs") {
  const pid_t child = _Fork();
  if (child == 0) {
    for (;;) pause();
  }
  run_loop();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

HOSTILE(raw_forks_stay, 20, "five children of raw fork stay until the process ends") {
  for (int i = 0; i < 5; ++i) {
    if (raw_fork() == 0) {
      raw(SYS_close_range, 0, 2, 0);  // the driver waits until no process holds the output
      raw(SYS_alarm, 5);
      for (;;) raw(SYS_pause);
    }
  }
  call_both(10);
  run_loop();
}

HOSTILE(raw_fork_calls, 20, "a child of raw fork makes calls beside its parent") {
  const pid_t child = raw_fork();
  if (child == 0) {
    call_both(500);
    raw(SYS_exit_group, 0);
  }
  call_both(10);
  expect_clean_end(child);
}

HOSTILE(forks_and_goes_on, 20, "a hundred children of fork make calls") {
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      call_both(3);
      _exit(0);
    }
    expect_clean_end(child);
  }
  call_both(10);
}

HOSTILE(process_shares_memory, 20, "a process that shares the test's memory (CLONE_VM, no thread) makes calls") {
  expect_clean_end(start_sharing(CLONE_VM, [](void*) {
    call_both(50);
    return 0;
  }));
  call_both(10);
}

HOSTILE(process_shares_memory_meanwhile, 2000, "a process that shares the test's memory makes calls at the same time") {
  const pid_t child = start_sharing(CLONE_VM, [](void*) {
    call_both(1000);
    return 0;
  });
  call_both(1000);
  expect_clean_end(child);
}

HOSTILE(process_shares_all_but_the_thread, 20,
        "a process shares memory, files, folders and signal handlers, and makes calls") {
  expect_clean_end(start_sharing(CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND, [](void*) {
    call_both(50);
    return 0;
  }));
  call_both(10);
}

HOSTILE(process_clears_signal_handlers, 20,
        "a child of clone3 starts with default signal handlers (CLONE_CLEAR_SIGHAND)") {
  clone_args arguments = {};
  arguments.flags = CLONE_CLEAR_SIGHAND;
  arguments.exit_signal = SIGCHLD;
  const long child = raw(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0) {
    call_both(50);
    raw(SYS_exit_group, 0);
  }
  if (child == -ENOSYS) GTEST_SKIP() << "a filter answers clone3";
  ASSERT_GT(child, 0);
  expect_clean_end(static_cast<pid_t>(child));
  call_both(10);
}

// NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): it is what is tested
HOSTILE(vfork_calls, 20, "a child of vfork makes calls before it ends") {
  const pid_t child = vfork();
  if (child == 0) {
    call_both(50);
    _exit(0);
  }
  expect_clean_end(child);
  call_both(10);
}

HOSTILE(vfork_fails_to_execute, 20, "a child of vfork makes calls, and its execve fails") {
  const pid_t child = vfork();
  if (child == 0) {
    call_both(5);
    execl("/nonexistent", "none", nullptr);
    call_both(5);
    _exit(0);
  }
  expect_clean_end(child);
  call_both(10);
}
// NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)

HOSTILE(child_closes_our_descriptors, 20,
        "a child that shares the test's descriptors closes all of them except three") {
  expect_clean_end(start_sharing(CLONE_FILES, [](void*) { return static_cast<int>(raw(SYS_close_range, 3, ~0U, 0)); }));
  call_both(10);
}

HOSTILE(child_executes, 20, "a child of raw fork executes another program") {
  const pid_t child = raw_fork();
  if (child == 0) {
    char path[] = "/bin/true";
    char* arguments[] = {path, nullptr};
    raw(SYS_execve, path, arguments, environ);
    raw(SYS_exit_group, 9);
  }
  expect_clean_end(child);
  call_both(10);
}

HOSTILE(traced_by_its_child, 20,
        "a child attaches to the test with ptrace, reads the registers and detaches, as crash handlers do") {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    user_regs_struct registers = {};
    int status = 0;
    bool done = ptrace(PTRACE_ATTACH, parent, nullptr, nullptr) == 0 && waitpid(parent, &status, __WALL) == parent &&
                ptrace(PTRACE_GETREGS, parent, nullptr, &registers) == 0 &&
                ptrace(PTRACE_DETACH, parent, nullptr, nullptr) == 0;
    _exit(done ? 0 : 1);
  }
  expect_clean_end(child);
  call_both(10);
}

HOSTILE(waits_for_any, 20, "waits for any child, and has none") {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  call_both(10);
}

HOSTILE(waits_for_every_kind, 20, "reaps a child, also asks for those without exit signal (__WALL), and has no other") {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(waitpid(-1, nullptr, __WALL), child);
  EXPECT_EQ(waitpid(-1, nullptr, __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WCLONE), -1);
  call_both(10);
  run_loop();
}

HOSTILE(adopts_orphans, 20, "becomes a subreaper, gets one orphan and no other") {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  std::array<int, 2> lifeline{};
  ASSERT_EQ(pipe(lifeline.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      close(lifeline[1]);
      char none = 0;
      _exit(static_cast<int>(read(lifeline[0], &none, 1)));  // returns when the test has it and closes the pipe
    }
    _exit(0);
  }
  expect_clean_end(child);
  for (const int end : lifeline) close(end);
  EXPECT_GT(waitpid(-1, nullptr, 0), 0);
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
  call_both(10);
  run_loop();
}

HOSTILE(children_end_in_every_way, 20,
        "children of fork end by exit, quick_exit, abort, a signal and a thread's exit, before a loop") {
  for (int way = 0; way < 5; ++way) {
    const pid_t child = fork();
    if (child == 0) {
      close(1);
      close(2);
      call_both(5);
      if (way == 0) std::exit(0);
      if (way == 1) std::quick_exit(0);
      if (way == 2) std::abort();
      if (way == 3) kill(getpid(), SIGKILL);
      std::thread([] { std::exit(0); }).join();
    }
    waitpid(child, nullptr, 0);
  }
  call_both(10);
  run_loop();
}

HOSTILE(forks_from_threads, 800, "four threads fork at the same time, and their children make calls") {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 20; ++round) {
        const pid_t child = fork();
        if (child == 0) {
          call_both(3);
          _exit(0);
        }
        call_both(5);
        waitpid(child, nullptr, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

HOSTILE(child_of_the_parents_parent, 20, "a child gets the test's parent as its own (CLONE_PARENT) and makes calls") {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const done = new (page) std::atomic<bool>(false);
  const long child = raw(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    call_both(50);
    *done = true;
    raw(SYS_exit_group, 0);
  }
  EXPECT_GT(child, 0);
  conformance::spin_until([=] { return done->load(); });
  call_both(10);
}
