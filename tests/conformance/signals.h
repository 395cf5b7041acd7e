// SPDX-License-Identifier: MIT
//
// Signal handlers without libc, so that a handler's syscalls are the ones its case writes down.
#pragma once

#include <signal.h>

namespace conformance {

/// Installs `handler` for `signal`. `flags` are sigaction's (SA_RESTART, SA_ONSTACK, ...).
inline void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace conformance
