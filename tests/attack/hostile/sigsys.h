// SPDX-License-Identifier: MIT
//
// Shared by the cases of SIGSYS.
#pragma once

#include <signal.h>

#include <atomic>

#include "hostile.h"

namespace attack {

inline std::atomic<int> g_handled{0};

inline void count(int /*signal*/) {
  ++g_handled;
}

inline void call_twice(int /*signal*/) {
  call_raw(2);
  ++g_handled;
}

inline void call_nothing() {
  __builtin_ia32_pause();
}

inline sigset_t only_sigsys() {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  return only;
}

}  // namespace attack
