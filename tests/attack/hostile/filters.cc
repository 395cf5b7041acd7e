// SPDX-License-Identifier: MIT
//
// A test that installs a filter that forbids more than a backend can do without, or that asks someone else.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <initializer_list>
#include <thread>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_raw;
using attack::filter;
using conformance::raw;

constexpr unsigned kKill = 0x80000000U;  // SECCOMP_RET_KILL_PROCESS

/// Kills the process for all calls but these.
void allow_only(std::initializer_list<int> syscalls) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int number : syscalls) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kKill));
  const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int g_pipe[2] = {-1, -1};

/// Hands `mkdir` to its tracer, which denies it. Returns whether it was denied.
bool is_denied_by_tracer() {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    filter({SYS_mkdir}, SECCOMP_RET_TRACE);
    _exit(mkdir("attack-forbidden", 0700) == -1 && errno == EPERM ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL);
  ptrace(PTRACE_CONT, child, 0, 0);
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8))) {
      user_regs_struct registers{};
      ptrace(PTRACE_GETREGS, child, 0, &registers);
      registers.orig_rax = ~0ULL;
      registers.rax = static_cast<unsigned long long>(-EPERM);
      ptrace(PTRACE_SETREGS, child, 0, &registers);
    }
    ptrace(PTRACE_CONT, child, 0, 0);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

HOSTILE(strict_mode_in_a_thread, 20, "a thread enters seccomp's strict mode, in which it can read, write and end") {
  ASSERT_EQ(pipe(g_pipe), 0);
  call_both(5);
  std::thread thread([] {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    raw(SYS_write, g_pipe[1], "x", 1);
    raw(SYS_exit, 0);
  });
  char byte = 0;
  ASSERT_EQ(read(g_pipe[0], &byte, 1), 1);
  thread.join();  // the kernel wakes us when the thread has ended
  call_both(5);
}

HOSTILE(strict_mode_in_a_forked_child, 20, "a forked child enters seccomp's strict mode, and ends as it wants") {
  call_both(5);
  for (int way = 0; way < 2; ++way) {
    const pid_t child = way == 0 ? fork() : static_cast<pid_t>(raw(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) {
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
      syscall(SYS_exit, 5);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 5 << 8);
  }
  call_both(5);
}

HOSTILE(kill_filter_in_a_thread, 60, "a thread allows itself what OpenSSH's sandbox does, and is killed for the rest") {
  call_both(5);
  std::thread([] {
    allow_only({SYS_read,    SYS_write,          SYS_exit,   SYS_exit_group, SYS_getppid,        SYS_getpid,
                SYS_brk,     SYS_mmap,           SYS_munmap, SYS_close,      SYS_clock_gettime,  SYS_gettimeofday,
                SYS_madvise, SYS_mremap,         SYS_poll,   SYS_select,     SYS_rt_sigprocmask, SYS_getrandom,
                SYS_futex,   SYS_set_robust_list});
    call_both(20);
  }).join();
  call_both(5);
}

HOSTILE(killed_for_sigreturn, 20, "a filter kills the process at rt_sigreturn") {
  call_both(5);
  ASSERT_TRUE(filter({SYS_rt_sigreturn}, kKill));
  call_both(5);
}

HOSTILE(killed_for_copies, 20, "a filter kills the process at process_vm_readv and process_vm_writev") {
  ASSERT_TRUE(filter({SYS_process_vm_readv, SYS_process_vm_writev}, kKill));
  auto* const elsewhere = new struct sigaction[2]();
  sigaction(SIGUSR1, nullptr, elsewhere);
  sigaction(SIGUSR1, elsewhere, elsewhere + 1);
  delete[] elsewhere;
  call_both(10);
}

HOSTILE(killed_for_clocks, 20, "a filter kills the process at clock_gettime, getrusage and fstat between two others") {
  // All that is left of the run is in a child.
  const pid_t child = fork();
  if (child == 0) {
    filter({SYS_clock_gettime, SYS_getrusage, SYS_fstat, SYS_newfstatat}, kKill);
    call_raw(5);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 7 << 8);
  call_both(10);
}

HOSTILE(tracer_answers_a_filter, 20, "a child's filter asks its tracer (SECCOMP_RET_TRACE), which denies mkdir") {
  call_both(5);
  EXPECT_TRUE(is_denied_by_tracer());
  EXPECT_NE(access("attack-forbidden", F_OK), 0);
  call_both(5);
}

HOSTILE(filter_asks_no_tracer, 20, "a thread's filter asks a tracer (SECCOMP_RET_TRACE), and there is none") {
  call_both(5);
  std::atomic<long> answer{0};
  std::thread([&] {
    filter({SYS_getuid}, SECCOMP_RET_TRACE);
    answer = raw(SYS_getuid);
  }).join();
  EXPECT_EQ(answer, -ENOSYS);
  call_both(5);
}

HOSTILE(hidden_filter_asks_no_tracer, 20,
        "a thread's filter asks a tracer, in a process that is not dumpable: its owner cannot read the filter") {
  call_both(5);
  std::atomic<long> answer{0};
  prctl(PR_SET_DUMPABLE, 0);
  std::thread([&] {
    filter({SYS_getuid}, SECCOMP_RET_TRACE);
    answer = raw(SYS_getuid);
  }).join();
  prctl(PR_SET_DUMPABLE, 1);
  EXPECT_EQ(answer, -ENOSYS);
  call_both(5);
}
