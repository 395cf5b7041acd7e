// SPDX-License-Identifier: MIT
#include "agent/exec/child_ends.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

#include "agent/common/variables.h"

namespace {

using syscost::agent::kEndSignals;

using Wait4 = pid_t(pid_t, int*, int, rusage*);
using Waitid = int(idtype_t, id_t, siginfo_t*, int);

std::uint32_t* g_ends = nullptr;  // null = nothing is counted
Wait4* g_wait4 = nullptr;
Waitid* g_waitid = nullptr;

[[gnu::constructor]] void look_up_waits() {
  g_wait4 = reinterpret_cast<Wait4*>(dlsym(RTLD_NEXT, "wait4"));
  g_waitid = reinterpret_cast<Waitid*>(dlsym(RTLD_NEXT, "waitid"));
}

/// A constructor of another library may wait before ours has run.
pid_t libc_wait4(pid_t process, int* status, int options, rusage* usage) {
  if (g_wait4 != nullptr) return g_wait4(process, status, options, usage);
  return static_cast<pid_t>(syscall(SYS_wait4, process, status, options, usage));
}

void count(int signal) {
  if (signal > 0 && signal < kEndSignals) std::atomic_ref(g_ends[signal]).fetch_add(1, std::memory_order_relaxed);
}

pid_t counted_wait(pid_t process, int* status, int options, rusage* usage) {
  if (g_ends == nullptr) return libc_wait4(process, status, options, usage);
  int own = 0;
  int* const its = status != nullptr ? status : &own;
  const pid_t ended = libc_wait4(process, its, options, usage);
  if (ended > 0 && WIFSIGNALED(*its)) count(WTERMSIG(*its));
  return ended;
}

}  // namespace

namespace syscost::agent {

void count_child_ends(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  void* const memory = mmap(nullptr, kEndSignals * sizeof(std::uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) g_ends = static_cast<std::uint32_t*>(memory);
}

}  // namespace syscost::agent

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved ones
#pragma GCC visibility push(default)
extern "C" {

pid_t wait(int* status) {
  return counted_wait(-1, status, 0, nullptr);
}
pid_t waitpid(pid_t process, int* status, int options) {
  return counted_wait(process, status, options, nullptr);
}
pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return counted_wait(-1, status, options, usage);
}
pid_t wait4(pid_t process, int* status, int options, rusage* usage) noexcept {
  return counted_wait(process, status, options, usage);
}
int waitid(idtype_t kind, id_t process, siginfo_t* information, int options) {
  siginfo_t own{};
  siginfo_t* const its = information != nullptr || g_ends == nullptr ? information : &own;
  const int result = g_waitid != nullptr ? g_waitid(kind, process, its, options)
                                         : static_cast<int>(syscall(SYS_waitid, kind, process, its, options, nullptr));
  if (g_ends == nullptr || result != 0 || its->si_pid == 0 || (options & WNOWAIT) != 0) return result;
  if (its->si_code == CLD_KILLED || its->si_code == CLD_DUMPED) count(its->si_status);
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
