// SPDX-License-Identifier: MIT
//
// A hostile case: a GoogleTest test that does something awkward around a known number of getppid calls.
//
// The conformance suite asks what one window counts; this asks what becomes of a user's test run. So each case is a
// real test of a real GoogleTest program: hostile_test.py runs it bare and under each backend, between two ordinary
// tests, and compares verdicts, exit codes and the rows of all three.
//
// HOW TO ADD A CASE. Write `HOSTILE(name, made, "sentence") { ... }` in the family's file: `made` is how often the
// process (all threads, no children) calls getppid in it. A case that the machine cannot run says so by GTEST_SKIP.
// The result to expect on each backend stands in expectations.py; then `hostile_test.py BIN --table > docs/hostile.md`.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "raw.h"

namespace attack {

struct Hostile {
  const char* name;
  int made;  ///< Calls of getppid in the test itself, without its loop.
  const char* summary;
  void (*body)();
};

/// All cases, as they were registered.
std::vector<Hostile>& cases();

struct Register {
  explicit Register(const Hostile& one) { cases().push_back(one); }
};

/// `times` calls through libc, where they may be patched.
inline void call_libc(int times) {
  for (int i = 0; i < times; ++i) getppid();
}
/// `times` calls of our own `syscall` instruction, which no backend may patch.
inline void call_raw(int times) {
  for (int i = 0; i < times; ++i) conformance::raw(SYS_getppid);
}
/// `times` of each.
inline void call_both(int times) {
  call_libc(times);
  call_raw(times);
}

/// fork without libc: no handler of pthread_atfork runs, no cache is renewed.
inline pid_t raw_fork() {
  return static_cast<pid_t>(conformance::raw(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

/// Runs `work` with the stack pointer at `top`.
inline void on_stack(char* top, void (*work)()) {
  top -= reinterpret_cast<std::uintptr_t>(top) % 16;
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "call *%[work]\n\t"
      "movq %%rbx, %%rsp"
      :
      : [top] "r"(top), [work] "r"(work)
      : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

inline constexpr int kCallsOfLoop = 3;
/// A measured loop (syscost::loop) with kCallsOfLoop calls in its body; some plain passes in the bare program.
void run_loop();

/// Runs `body` in a syscost::Scope; alone in the bare program.
void in_scope(void (*body)());

/// Is run by the ordinary test that follows, before its calls.
void later(std::function<void()> check);

/// Waits until the thread or process sleeps in a call ('S'), or is stopped ('T').
void wait_for_state(pid_t task, char state);

/// Puts the process under a seccomp filter that gives `action` to these syscalls.
bool filter(std::initializer_list<int> syscalls, unsigned action);
/// The same, answering with an errno.
bool filter_errno(std::initializer_list<int> syscalls, int error);

}  // namespace attack

#define HOSTILE(name, made, summary)                                                     \
  static void hostile_##name();                                                          \
  static const attack::Register kHostile_##name({#name, made, summary, hostile_##name}); \
  static void hostile_##name()
