// SPDX-License-Identifier: MIT
#include "agent/exec/child_ends.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

#include "agent/common/variables.h"
#include "agent/exec/next_function.h"
#include "agent/exec/passing_on.h"

namespace {

using syscost::agent::is_passing_on;
using syscost::agent::kEndSignals;
using syscost::agent::look_up_next;
using syscost::agent::note_ended;

/// The next functions of these names: libc's, or those of a library that stands in for it.
struct Waits {
  pid_t (*wait)(int*) = nullptr;
  pid_t (*waitpid)(pid_t, int*, int) = nullptr;
  pid_t (*wait3)(int*, int, rusage*) = nullptr;
  pid_t (*wait4)(pid_t, int*, int, rusage*) = nullptr;
  int (*waitid)(idtype_t, id_t, siginfo_t*, int) = nullptr;
};

std::uint32_t* g_ends = nullptr;  // null = no signals are counted

/// A constructor of another library may wait before ours has run.
const Waits& next() {
  static Waits waits;
  if (waits.waitid == nullptr) {
    look_up_next(waits.wait, "wait");
    look_up_next(waits.waitpid, "waitpid");
    look_up_next(waits.wait3, "wait3");
    look_up_next(waits.wait4, "wait4");
    look_up_next(waits.waitid, "waitid");
  }
  return waits;
}

[[gnu::constructor]] void look_up_waits() {
  next();
}

bool is_asked() {
  return g_ends != nullptr || is_passing_on();
}

/// After tests have begun nothing is noted: that would be calls of ours in a test.
void tell(pid_t child, int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (g_ends != nullptr && signal > 0 && signal < kEndSignals) {
    std::atomic_ref(g_ends[signal]).fetch_add(1, std::memory_order_relaxed);
  }
  if (is_passing_on() && (signal != 0 || WIFEXITED(status))) note_ended(child, status);
}

/// Calls `wait_for(status)` and tells of the child that it reports. The program may ask for no status.
template <class Wait>
pid_t told(int* status, const Wait& wait_for) {
  int own = 0;
  int* const its = status != nullptr || !is_asked() ? status : &own;
  const pid_t ended = wait_for(its);
  if (ended > 0 && its != nullptr) tell(ended, *its);
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
  return told(status, [](int* its) { return next().wait(its); });
}
pid_t waitpid(pid_t process, int* status, int options) {
  return told(status, [&](int* its) { return next().waitpid(process, its, options); });
}
pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return told(status, [&](int* its) { return next().wait3(its, options, usage); });
}
pid_t wait4(pid_t process, int* status, int options, rusage* usage) noexcept {
  return told(status, [&](int* its) { return next().wait4(process, its, options, usage); });
}
int waitid(idtype_t kind, id_t process, siginfo_t* information, int options) {
  siginfo_t own{};
  siginfo_t* const its = information != nullptr || !is_asked() ? information : &own;
  const int result = next().waitid(kind, process, its, options);
  if (its == nullptr || result != 0 || its->si_pid == 0 || (options & WNOWAIT) != 0) return result;
  if (its->si_code == CLD_KILLED || its->si_code == CLD_DUMPED) tell(its->si_pid, W_EXITCODE(0, its->si_status));
  if (its->si_code == CLD_EXITED) tell(its->si_pid, W_EXITCODE(its->si_status, 0));
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
