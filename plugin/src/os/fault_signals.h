// SPDX-License-Identifier: MIT
//
// Signals by which a program ends for a fault of its own, not because another process sent them.
#pragma once

#include <signal.h>

namespace syscost {

/// The signal of abort(), and those that an instruction raises.
inline constexpr int kFaultSignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

constexpr bool is_fault_signal(int signal) {
  for (const int fault : kFaultSignals) {
    if (signal == fault) return true;
  }
  return false;
}

/// If a thread blocks such a signal, the instruction that raises it kills the process.
constexpr bool is_raised_by_instruction(int signal) {
  return signal != SIGABRT && is_fault_signal(signal);
}

}  // namespace syscost
