// SPDX-License-Identifier: MIT
//
// Holds all signals of the calling thread, so that no handler of the program interrupts what we do.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <cstdint>

#include "backends/dispatch/stub/raw.h"

namespace syscost::signal_safe {

/// Blocks all signals from its constructor to its destructor. Make only raw syscalls meanwhile, because SIGSYS is held,
/// too.
class SignalsHeld {
 public:
  SignalsHeld() { change(SIG_BLOCK, ~std::uint64_t{0}, &before_); }
  ~SignalsHeld() { change(SIG_SETMASK, before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  static void change(int how, std::uint64_t mask, std::uint64_t* before) {
    syscost_raw_syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&mask), reinterpret_cast<long>(before),
                        sizeof mask);
  }
  std::uint64_t before_ = 0;
};

}  // namespace syscost::signal_safe
