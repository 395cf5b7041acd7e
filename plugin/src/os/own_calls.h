// SPDX-License-Identifier: MIT
//
// Own calls: calls of syscost in children of the measured process, and marks by which a backend knows that a call is
// ours.
//
// A backend that counts children must not count calls by which fork children close our descriptors, nor calls of
// processes that become our tools. ForkDetector tells a fork child from the process that measures.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

namespace syscost {

/// Tells a process without a syscall whether it is a fork child of the process that measures.
///
/// A fork child may return into the test framework and run every listener again. It must write no row and touch no
/// backend, and calling getpid() would be a syscall in the user's window. The kernel gives a child a zeroed copy of a
/// page that is marked so (MADV_WIPEONFORK, kernel 4.14): a load from it answers.
class ForkDetector {
 public:
  /// Marks this process as the one that measures. Makes syscalls.
  ForkDetector();
  bool is_fork_child() const;

 private:
  volatile const int* mark_ = nullptr;  // 1 here, 0 in children; null where the kernel is too old
  int owner_ = 0;
};

}  // namespace syscost

// syscall(2) with a mark in the sixth argument, by which a backend knows the call as ours. The kernel ignores the mark.
//
// The mark may not stay in the register of that argument: a call of fewer arguments does not set the register, so the
// program's next close() or exit_group() would be taken for ours, and not counted.

#ifndef __x86_64__
#error "syscost knows x86-64 only"
#endif

namespace syscost {

namespace detail {
inline long word(const volatile void* pointer) {
  return reinterpret_cast<long>(pointer);
}
template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
long word(Number number) {
  return static_cast<long>(number);
}
}  // namespace detail

/// Like syscall(2), errno included, for calls of at most five arguments. Signal-safe.
template <class... Arguments>
long marked_call(std::uint64_t mark, long number, Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= 5);
  const long words[5 + 1] = {detail::word(arguments)...};
  const long result = syscall(number, words[0], words[1], words[2], words[3], words[4], mark);
  __asm__ volatile("xorl %%r9d, %%r9d" ::: "r9");
  return result;
}

/// From here on, until end_own_calls() or execve(), the calls of the calling thread are not counted as a child's, nor
/// are those of processes it starts. In a child only; one system call where a backend counts children so, else none.
/// Signal-safe, but for errno.
void begin_own_calls();
void end_own_calls();

/// syscall(2), errno included, for our calls between begin_own_calls() and end_own_calls(). A backend that sees each
/// call on its own recognises it by the sixth argument, which the kernel ignores. Only for close and fstat: such a
/// backend counts other calls. Signal-safe.
long own_call(long number, long first, long second = 0);

/// In the process that starts a tool of ours, `self` by the measured process's PID namespace: like begin_own_calls(),
/// and in a session of its own (setsid(2)). By the session a backend recognises the tool, and each process that the
/// tool starts, until end_own_session(). 0, or an errno if a backend cannot recognise them: then nothing may be
/// started.
int begin_own_session(pid_t self);
/// In the measured process, when the tool has ended or was not started: the number may soon belong to another process.
void end_own_session(pid_t session);

/// For a backend: begin_own_calls() then calls gettid(cookie, 1), and end_own_calls() gettid(cookie, 0), which the
/// backend's programs recognise. With cookie 0 they make no call.
void set_own_calls_cookie(std::uint64_t cookie);
/// For a backend: the sixth argument that own_call() passes (0 = none), and the cells, all 0, into which
/// begin_own_session() writes the sessions' numbers (empty = it writes none).
void set_own_calls_marks(std::uint64_t sixth_argument, std::span<std::atomic<pid_t>> sessions);

}  // namespace syscost
