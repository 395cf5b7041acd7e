// SPDX-License-Identifier: MIT
#include "agent/inject/permission.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>

namespace syscost::inject {
namespace {

/// The value of `name` in /proc/self/status; 0 where it is not known.
int status_value(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int value = 0;
    if (word == name + ":" && status >> value) return value;
  }
  return 0;
}

int yama_scope() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  return scope;
}

}  // namespace

bool may_set_fs_register() {
  constexpr unsigned long kFsgsbase = 2;  // HWCAP2_FSGSBASE
  return (getauxval(AT_HWCAP2) & kFsgsbase) != 0;
}

bool may_make_code() {
  constexpr std::size_t kBytes = 4096;
  void* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool may = mprotect(page, kBytes, PROT_READ | PROT_EXEC) == 0;
  munmap(page, kBytes);
  return may;
}

bool has_tracer() {
  return status_value("TracerPid") != 0;
}

Obstacle no_code() {
  return {"no written memory may become code here, as under systemd's MemoryDenyWriteExecute",
          "run it without that; or link the program dynamically"};
}

Obstacle why_denied(bool is_traced) {
  if (!may_set_fs_register()) {
    return {"this kernel or processor lets no program set the fs register (FSGSBASE)",
            "use Linux 5.9 or newer, in a virtual machine that shows the processor's; or link the program dynamically"};
  }
  if (!may_make_code()) return no_code();
  if (is_traced) {
    return {"a debugger or strace traces it, and a process has one tracer",
            "run it without the tracer; or link the program dynamically"};
  }
  if (const int scope = yama_scope(); scope >= 2) {
    constexpr int kUntilRestart = 3;  // the kernel then refuses another value
    return {scope < kUntilRestart ? "the system lets users trace no process (kernel.yama.ptrace_scope is 2)"
                                  : "the system lets no one trace a process (kernel.yama.ptrace_scope is 3)",
            std::string("ask the administrator for kernel.yama.ptrace_scope=1") +
                (scope < kUntilRestart ? "" : ", which takes a restart of the machine") +
                "; or link the program dynamically"};
  }
  if (status_value("Seccomp") != 0) {
    return {"a seccomp filter denies ptrace",
            "allow ptrace in the container's seccomp profile; or link the program dynamically"};
  }
  return {"the kernel denies ptrace", "link the program dynamically"};
}

Obstacle try_tracing() {
  if (!may_set_fs_register() || !may_make_code()) return why_denied(has_tracer());
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  if (child < 0) return {"no process can be made", "end other processes"};
  const bool may = ptrace(PTRACE_SEIZE, child, 0, 0) == 0;
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return may ? Obstacle{} : why_denied(has_tracer());
}

}  // namespace syscost::inject
