// SPDX-License-Identifier: MIT
//
// Functions of libc as a test replaces them: fakes.cc defines them all, under libc's names. Each counts its calls, and
// is true to libc until it is on.
#pragma once

namespace fakes {

/// The variable names the one that is on: FAKE=write while the tests of a suite run, FAKE=write:always from the start.
constexpr const char* kVariable = "FAKE=";

/// From here on the chosen one answers by itself, or no longer.
__attribute__((visibility("default"))) void turn_on(bool is_on);

/// Prints each fake that was called, and how often.
__attribute__((visibility("default"))) void print_calls();

/// Makes a system call without a function of libc. -errno if it fails.
inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long returned = 0;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(returned)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return returned;
}

}  // namespace fakes
