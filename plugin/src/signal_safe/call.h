// SPDX-License-Identifier: MIT
//
// Call: one syscall on its way through the stub. It lies on the caller's stack below the red zone, or on a trap stack.
//
// stub_x86_64.S fills and empties it by the offsets that are asserted here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "signal_safe/state.h"

namespace syscost::signal_safe {

struct Arguments {
  std::uint64_t rdi, rsi, rdx, r10, r8, r9;
};

/// The kernel's own sigaction and sigset.
struct KernelSigaction {
  void (*handler)(int);
  std::uint64_t flags;
  void (*restorer)();
  std::uint64_t mask;
};

struct Call {
  std::uint64_t result;
  std::uint64_t number;
  Control control;  ///< Of the thread's lane when the call entered.
  std::uint64_t start;
  std::uint64_t return_address;
  std::uint64_t flags;
  Thread* thread;   ///< On a trap stack also: this call is under way. Null = the stack is free.
  Arguments given;  ///< What the program passed, and gets back.
  Arguments used;   ///< What the kernel gets; special calls only.
  std::uint64_t abi;
  std::uint64_t stack_pointer;  ///< The caller's.
  // For special calls.
  union {
    KernelSigaction action;
    Stack stack;
  };
  KernelSigaction before;
  std::uint64_t mask;
  std::uint64_t note;
};

/// How far below the caller's stack pointer a Call on its stack lies: the red zone is left alone.
inline constexpr std::uint64_t kCallFrame = 128 + 256;

/// True if the call is kept on a stack of ours: nothing is written to the caller's.
inline bool is_on_trap_stack(const Call& call) {
  return call.stack_pointer != reinterpret_cast<std::uint64_t>(&call) + kCallFrame;
}

// Kept in step with stub_x86_64.S.
static_assert(offsetof(Call, result) == 0 && offsetof(Call, number) == 8 && offsetof(Call, control) == 16);
static_assert(offsetof(Call, start) == 24 && offsetof(Call, return_address) == 32 && offsetof(Call, flags) == 40);
static_assert(offsetof(Call, thread) == 48 && offsetof(Call, given) == 56 && offsetof(Call, used) == 104);
static_assert(offsetof(Call, abi) == 152 && offsetof(Call, stack_pointer) == 160 && sizeof(Call) <= 256);
static_assert(offsetof(Thread, lane) == 0 && sizeof(Thread) == 512 && offsetof(Lane, control) == 0);

/// The proof that code runs where nothing may be called, allocated or locked: only the stub's and the handler's entry
/// points make one.
class Guard {
 public:
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Guard() = default;
  friend struct EntryPoint;
};

/// Entry points derive their Guard from here.
struct EntryPoint {
  static Guard enter() { return {}; }
};

/// How the stub goes on after prepare(). Known to stub_x86_64.S.
enum class Plan : std::uint64_t {
  call = 0,          ///< With `used`, then finish().
  sigreturn = 1,     ///< Never comes back.
  own_stack = 2,     ///< A clone whose child starts on another stack.
  shared_stack = 3,  ///< From a patched site, a clone whose child writes over this stack before the parent goes on.
};

}  // namespace syscost::signal_safe
