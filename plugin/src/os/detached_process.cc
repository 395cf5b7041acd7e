// SPDX-License-Identifier: MIT
#include "os/detached_process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include "os/command_line.h"
#include "os/own_calls.h"

namespace syscost {

#ifdef __x86_64__
pid_t clone_sharing_memory(int exit_signal, void* stack_top, pid_t* child, void (*run)(void*), void* argument) {
  long flags = CLONE_VM | CLONE_VFORK | exit_signal;
  if (child != nullptr) flags |= CLONE_PARENT_SETTID;
  register long child_tid asm("r10") = 0;
  register long storage asm("r8") = 0;
  long result = SYS_clone;
  // The child finds itself on its empty stack, with our registers: no value of ours may come from the old one.
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"  // the last frame
      "mov %[argument], %%rdi\n\t"
      "call *%[run]\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(flags), "S"(stack_top), "d"(child), "r"(child_tid), "r"(storage), [run] "b"(run), [argument] "r"(argument)
      : "rcx", "r11", "memory", "cc");
  if (result >= 0) return static_cast<pid_t>(result);
  errno = static_cast<int>(-result);
  return -1;
}
#else
pid_t clone_sharing_memory(int exit_signal, void* stack_top, pid_t* child, void (*run)(void*), void* argument) {
  struct Call {
    void (*run)(void*);
    void* argument;
  } call{run, argument};
  int flags = CLONE_VM | CLONE_VFORK | exit_signal;
  if (child != nullptr) flags |= CLONE_PARENT_SETTID;
  return clone(
      [](void* pointer) {
        const Call& its = *static_cast<Call*>(pointer);
        its.run(its.argument);
        return 0;
      },
      stack_top, flags, &call, child);
}
#endif

pid_t clone_quietly() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, CLONE_FILES, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) return 0;
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

int wait_for_quiet_child(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
  }
  return status;
}

namespace {

constexpr std::size_t kMaxDescriptors = 4;
constexpr std::size_t kStackBytes = 64 << 10;

struct Launch {
  const char* path;
  char* const* arguments;
  char* const* environment;
  std::array<int, kMaxDescriptors> descriptors;
  std::size_t descriptor_count;
  std::uint64_t capabilities;
  void* stack;    ///< For the program's own start.
  pid_t session;  ///< The process that starts the program; set by the kernel before it runs.
  pid_t program;  ///< Set by the children, which share our memory until they execute or exit.
  int error;
};

// Between clone and execve the children run in our memory, on our thread's storage: syscalls, and nothing else. They go
// through syscall(2), never through the C library's functions: a sanitizer stands before those, and ThreadSanitizer's
// would take the child's dispositions and its end for this process's own.

/// Capabilities outlive execve as ambient ones. The program will report a failure here. Only this task's: the measured
/// process keeps its own sets.
void keep_capabilities(std::uint64_t wanted) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return;
  for (std::size_t word = 0; word < sets.size(); ++word) {
    sets[word].inheritable |= sets[word].permitted & static_cast<std::uint32_t>(wanted >> (32 * word));
  }
  if (syscall(SYS_capset, &header, sets.data()) != 0) return;
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if ((wanted >> capability & 1) != 0) syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
  }
}

[[noreturn]] void end_child(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

[[noreturn]] void give_up(Launch& launch) {
  launch.error = errno;
  end_child(127);
}

/// -1 if no number is free. That includes a limit below `least`, for which the kernel says EINVAL.
int duplicate_above(int descriptor, int least) {
  const auto copy = static_cast<int>(syscall(SYS_fcntl, descriptor, F_DUPFD, least));
  if (copy < 0 && errno == EINVAL) errno = EMFILE;
  return copy;
}

void become_the_program(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  // Handlers of the test's must not run here, and what it ignores must not be ignored there. All zero is the default
  // disposition in the kernel's layout too: handler, flags, restorer, mask.
  constexpr std::array<std::uint64_t, 4> kByDefault{};
  for (int signal = 1; signal < NSIG; ++signal) {
    syscall(SYS_rt_sigaction, signal, kByDefault.data(), nullptr, sizeof(std::uint64_t));
  }
  const auto nothing = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR));
  if (nothing < 0) give_up(launch);
  // Out of the way first: each may have any number, the standard ones and each other's too.
  std::array<int, kMaxDescriptors> kept{};
  for (std::size_t i = 0; i < launch.descriptor_count; ++i) {
    kept[i] = duplicate_above(launch.descriptors[i], 10);
    if (kept[i] < 0) give_up(launch);
  }
  const int kept_nothing = duplicate_above(nothing, 10);
  if (kept_nothing < 0) give_up(launch);
  for (int standard = 0; standard < kFirstPassedDescriptor; ++standard) {
    if (syscall(SYS_dup3, kept_nothing, standard, 0) < 0) give_up(launch);
  }
  int next = kFirstPassedDescriptor;
  for (std::size_t i = 0; i < launch.descriptor_count; ++i) {
    if (syscall(SYS_dup3, kept[i], next++, 0) < 0) give_up(launch);
  }
  // A pipe of the test's that stayed open here would never reach its end.
  syscall(SYS_close_range, next, ~0U, 0);
  if (syscall(SYS_chdir, "/") != 0) end_child(127);
  syscall(SYS_umask, 022);
  constexpr std::uint64_t kNoSignal = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kNoSignal, nullptr, sizeof(kNoSignal));
  if (launch.capabilities != 0) keep_capabilities(launch.capabilities);
  syscall(SYS_execve, launch.path, launch.arguments, launch.environment);
  give_up(launch);
}

/// Starts the program and is gone: the program becomes init's child.
void be_its_parent(void* argument) {
  auto* launch = static_cast<Launch*>(argument);
  launch->error = begin_own_session(launch->session);
  if (launch->error != 0) end_child(0);
  launch->program = clone_sharing_memory(SIGCHLD, launch->stack, nullptr, become_the_program, launch);
  if (launch->program < 0) launch->error = errno;
  end_child(0);
}

}  // namespace

// Like posix_spawn, but without a child. A child with exit signal 0 would be as quiet only until it executes, which
// sets the signal to SIGCHLD; so such a child starts the program and exits.
Result<DetachedProcess> start_detached(char* const* arguments, char* const* environment,
                                       std::span<const int> descriptors, std::uint64_t capabilities) {
  SYSCOST_CHECK(descriptors.size() <= kMaxDescriptors);
  void* stacks = mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return errno_failure("reserve a stack for", arguments[0], errno);
  char* const first_top = static_cast<char*>(stacks) + kStackBytes;
  Launch launch{.path = arguments[0],
                .arguments = arguments,
                .environment = environment,
                .descriptors = {},
                .descriptor_count = descriptors.size(),
                .capabilities = capabilities,
                .stack = first_top + kStackBytes,
                .session = 0,
                .program = 0,
                .error = 0};
  std::copy(descriptors.begin(), descriptors.end(), launch.descriptors.begin());
  // No handler of the test's may run in a child, which shares our memory.
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  const pid_t child = clone_sharing_memory(0, first_top, &launch.session, be_its_parent, &launch);
  if (child < 0) launch.error = errno;
  while (child > 0 && waitpid(child, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stacks, 2 * kStackBytes);
  if (launch.error == 0) return DetachedProcess{launch.program, launch.session};
  end_own_session(launch.session);
  return errno_failure(launch.program == 0 ? "start a session for" : "start", arguments[0], launch.error);
}

Result<DetachedProcess> start_detached(const DetachedProgram& program) {
  const std::vector<char*> arguments = null_ended(program.arguments);
  const std::vector<char*> environment = null_ended(program.environment);
  return start_detached(arguments.data(), environment.data(), program.descriptors, program.capabilities);
}

bool adopts_orphans() {
  int is_subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper, 0, 0, 0);
  return getpid() == 1 || is_subreaper != 0;
}

}  // namespace syscost
