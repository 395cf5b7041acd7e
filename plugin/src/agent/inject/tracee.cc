// SPDX-License-Identifier: MIT
#include "agent/inject/tracee.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace syscost::inject {
namespace {

long trace(__ptrace_request request, pid_t process, std::uint64_t address, std::uint64_t data) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as ptrace() wants it
  return ptrace(request, process, reinterpret_cast<void*>(address), reinterpret_cast<void*>(data));
}

/// 0, or the negative errno.
int checked(long result) {
  return result < 0 ? -errno : 0;
}

bool wait_for(pid_t process, int& status) {
  while (waitpid(process, &status, __WALL) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFSTOPPED(status);
}

}  // namespace

int Tracee::seize() const {
  return checked(trace(PTRACE_SEIZE, process_, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
}

bool Tracee::wait_for_program() {
  for (int status = 0; wait_for(process_, status);) {
    const bool is_exec = status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8));
    if (is_exec) {
      return trace(PTRACE_GETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&start_)) == 0;
    }
    const int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    if (trace(PTRACE_CONT, process_, 0, static_cast<std::uint64_t>(signal)) < 0) return false;
  }
  return false;
}

int Tracee::begin_calls() {
  errno = 0;
  code_ = trace(PTRACE_PEEKTEXT, process_, start_.rip, 0);
  if (errno != 0) return -errno;
  constexpr std::uint64_t kSyscallThenTrap = 0xcc050f;
  const std::uint64_t code = (static_cast<std::uint64_t>(code_) & ~std::uint64_t{0xffffff}) | kSyscallThenTrap;
  if (const int error = checked(trace(PTRACE_POKETEXT, process_, start_.rip, code)); error != 0) return error;
  // The process is still in execve(), and would get the result of that in rax. After the trap it is in its program.
  constexpr std::uint64_t kTrap = 2;
  user_regs_struct registers = start_;
  registers.rip += kTrap;
  if (const int error = checked(trace(PTRACE_SETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  return resume_until_trap();
}

int Tracee::end_calls() const {
  return checked(trace(PTRACE_POKETEXT, process_, start_.rip, static_cast<std::uint64_t>(code_)));
}

int Tracee::resume_until_trap() {
  for (;;) {
    if (const int error = checked(trace(PTRACE_CONT, process_, 0, 0)); error != 0) return error;
    int status = 0;
    if (!wait_for(process_, status)) return -ESRCH;
    if (status >> 16 != 0) continue;  // a stop that is no signal
    if (WSTOPSIG(status) == SIGTRAP) return 0;
    if (pending_ != 0) earlier_ |= std::uint64_t{1} << static_cast<unsigned>(pending_ - 1);
    pending_ = WSTOPSIG(status);
  }
}

long Tracee::call(long number, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e,
                  std::uint64_t f) {
  user_regs_struct registers = start_;
  registers.orig_rax = ~std::uint64_t{0};  // no call to restart
  registers.rax = static_cast<std::uint64_t>(number);
  registers.rdi = a;
  registers.rsi = b;
  registers.rdx = c;
  registers.r10 = d;
  registers.r8 = e;
  registers.r9 = f;
  if (const int error = checked(trace(PTRACE_SETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  if (const int error = resume_until_trap(); error != 0) return error;
  if (const int error = checked(trace(PTRACE_GETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  return static_cast<long>(registers.rax);
}

int Tracee::write(std::uint64_t at, const void* bytes, std::size_t size) const {
  const iovec local{const_cast<void*>(bytes), size};
  const iovec remote{reinterpret_cast<void*>(at), size};  // NOLINT(performance-no-int-to-ptr): in the other process
  const ssize_t written = process_vm_writev(process_, &local, 1, &remote, 1, 0);
  if (written < 0) return -errno;
  return static_cast<std::size_t>(written) == size ? 0 : -EFAULT;
}

int Tracee::read(std::uint64_t at, void* bytes, std::size_t size) const {
  const iovec local{bytes, size};
  const iovec remote{reinterpret_cast<void*>(at), size};  // NOLINT(performance-no-int-to-ptr): in the other process
  const ssize_t got = process_vm_readv(process_, &local, 1, &remote, 1, 0);
  if (got < 0) return -errno;
  return static_cast<std::size_t>(got) == size ? 0 : -EFAULT;
}

int Tracee::let_go(std::uint64_t entry, std::uint64_t stack) {
  user_regs_struct registers = start_;
  registers.orig_rax = ~std::uint64_t{0};
  registers.rax = 0;
  registers.rip = entry;
  registers.rsp = stack;
  if (const int error = checked(trace(PTRACE_SETREGS, process_, 0, reinterpret_cast<std::uint64_t>(&registers)))) {
    return error;
  }
  for (int signal = 1; earlier_ != 0; ++signal, earlier_ >>= 1) {
    if ((earlier_ & 1) != 0) kill(process_, signal);
  }
  return checked(trace(PTRACE_DETACH, process_, 0, static_cast<std::uint64_t>(pending_)));
}

}  // namespace syscost::inject
