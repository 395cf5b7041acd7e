// SPDX-License-Identifier: MIT
//
// Processes: a child's calls are the child's, however it was made.
//
// A forked child returns from a call it never entered, a vfork child runs on the parent's memory (counters included),
// an exec'd program must start clean. The rows say what is left for the measured process: its own half.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

#include "case.h"
#include "raw.h"

namespace conformance {
namespace {

std::array<char, 10> g_true_path = {"/bin/true"};
std::array<char*, 2> g_true_argv = {g_true_path.data(), nullptr};

void reap(long pid, int expected_status) {
  int status = 0;
  require(raw(SYS_wait4, pid, &status, 0, nullptr) == pid, "wait4 did not return the child");
  require(status == expected_status, "the child ended with wait status " + std::to_string(status));
}

const Register kForkSplit(Case{
    .number = 22,
    .name = "fork_split",
    .summary = "After fork, parent and child make calls; only those of the parent count for the parent.",
    .windows = {{"",
                 [] {
                   pid_t child = fork();
                   if (child == 0) {
                     repeat_raw(50, 0, SYS_getppid);
                     raw(SYS_exit_group, 7);
                   }
                   repeat_raw(20, 0, SYS_getppid);
                   reap(child, 7 << 8);
                 },
                 {calls("clone", 1), calls("getppid", 20), calls("wait4", 1),
                  any("rt_sigprocmask", "libc's fork blocks signals meanwhile, from glibc 2.41 on")}}},
});

const Register kVforkExec(Case{
    .number = 23,
    .name = "vfork_exec",
    .summary =
        "The execve of a vfork child does not count for the parent, although the child runs on the parent's memory.",
    .windows = {{"",
                 [] {
                   pid_t child = vfork();
                   if (child == 0) {
                     // raw and data() only pass registers and addresses on; they write nothing the parent reads.
                     // NOLINTNEXTLINE(clang-analyzer-unix.Vfork)
                     raw(SYS_execve, g_true_path.data(), g_true_argv.data(), nullptr);
                     raw(SYS_exit_group, 127);
                   }
                   reap(child, 0);
                 },
                 {calls("vfork", 1), calls("wait4", 1)}}},
});

const Register kPosixSpawn(Case{
    .number = 24,
    .name = "posix_spawn",
    .summary = "posix_spawn counts libc's calls in the parent; the child's signal set-up and execve do not count for "
               "the parent.",
    .windows = {{"",
                 [] {
                   pid_t child = 0;
                   std::array<char*, 1> environment = {nullptr};
                   int error = posix_spawn(&child, g_true_path.data(), nullptr, nullptr, g_true_argv.data(),
                                           environment.data());
                   require(error == 0, "posix_spawn failed");
                   reap(child, 0);
                 },
                 {calls("wait4", 1)},
                 "how posix_spawn makes the child is libc's choice"}},
});

RawThread g_raw_thread;

const Register kRawClone(Case{
    .number = 25,
    .name = "raw_clone_own_stack",
    .summary = "A thread made by clone alone, on its own stack, is counted; its exit never returns.",
    .windows = {{"",
                 [] {
                   bool started = g_raw_thread.start([](void*) { repeat_raw(100, 0, SYS_getppid); }, nullptr);
                   require(started, "clone failed");
                   spin_until([] { return g_raw_thread.gone(); });
                 },
                 {calls("clone", 1), calls("getppid", 100), calls("exit", 0).never_returning(1)}}},
});

// Makes the kernel answer `nr` with `error` from now on, for the whole process.
void deny(std::uint32_t nr, std::uint32_t error) {
  std::array<sock_filter, 4> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  bool installed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                   syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
  require(installed, "the seccomp filter could not be installed");
}

const Register kSeccompErrno(Case{
    .number = 20,
    .name = "seccomp_errno",
    .summary = "Calls that the program's own seccomp filter answers are denied, not entered; other calls are exact.",
    .setup = [] { deny(SYS_getpriority, EACCES); },
    .windows = {{"",
                 [] {
                   bool denied = true;
                   for (int i = 0; i < 10; ++i) {
                     denied = raw(SYS_getpriority, PRIO_PROCESS, 0) == -EACCES && denied;
                     raw(SYS_getppid);
                   }
                   require(denied, "the filter did not answer getpriority with EACCES");
                 },
                 {calls("getpriority", 0).refused(10, EACCES), calls("getppid", 10)}}},
    .unsupported = {{"seccomp", "the kernel does not report a call that the program's own filter answers"}},
});

const Register kSeccompInside(Case{
    .number = 20,
    .name = "seccomp_errno_from_inside",
    .summary = "A filter installed inside the window: calls before it are calls, after it denied.",
    .windows = {{"",
                 [] {
                   repeat_raw(5, 20, SYS_getpriority, PRIO_PROCESS, 0);  // the kernel returns 20 - nice
                   deny(SYS_getpriority, EPERM);
                   repeat_raw(3, -EPERM, SYS_getpriority, PRIO_PROCESS, 0);
                 },
                 {calls("getpriority", 5).refused(3, EPERM), calls("prctl", 1), calls("seccomp", 1)}}},
    .unsupported = {{"seccomp", "the kernel does not report a call that the program's own filter answers"}},
});

void start_and_join_ten_call_thread() {
  pthread_t thread = 0;
  int error = pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        repeat_raw(10, 0, SYS_getppid);
        return nullptr;
      },
      nullptr);
  require(error == 0, "pthread_create failed");
  if (error == 0) pthread_join(thread, nullptr);
}

const Register kClone3Enosys(Case{
    .number = 26,
    .name = "clone3_enosys_fallback",
    .summary = "If a filter denies clone3 with ENOSYS, libc falls back to clone, and the thread is counted.",
    .setup = [] { deny(SYS_clone3, ENOSYS); },
    .windows = {{"",
                 start_and_join_ten_call_thread,
                 {calls("clone3", 0).refused(1, ENOSYS), calls("clone", 1), calls("getppid", 10),
                  calls("exit", 0).never_returning(1)},
                 "what else pthread_create and pthread_join do is libc's choice"}},
    .unsupported = {{"seccomp", "the kernel does not report a call that the program's own filter answers"}},
});

}  // namespace
}  // namespace conformance
