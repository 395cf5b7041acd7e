// SPDX-License-Identifier: MIT
//
// Signal handlers without libc, so that a handler's syscalls are the ones its case writes down.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <cstddef>
#include <string>

#include "raw.h"

namespace conformance {

/// Installs `handler` for `signal`. `flags` are sigaction's (SA_RESTART, SA_ONSTACK, ...).
inline void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// These belong to the one case that a process runs. A case sets g_pid before its window, which shall not hold the call.
inline pid_t g_pid = 0;
inline volatile sig_atomic_t g_handled = 0;
inline std::string g_wrong;  ///< The first thing that was wrong.

inline void send_to_self(int signal) {
  raw(SYS_tgkill, g_pid, g_pid, signal);
}

inline void count_only(int /*signal*/) {
  g_handled = g_handled + 1;
}

inline void note(bool is_right, const char* what) {
  if (!is_right && g_wrong.empty()) g_wrong = what;
}

inline long set_stack(const void* start, std::size_t bytes, unsigned flags = 0) {
  stack_t stack = {};
  stack.ss_sp = const_cast<void*>(start);
  stack.ss_size = bytes;
  stack.ss_flags = static_cast<int>(flags);
  return raw(SYS_sigaltstack, &stack, nullptr);
}

}  // namespace conformance
