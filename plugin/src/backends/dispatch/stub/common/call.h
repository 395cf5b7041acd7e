// SPDX-License-Identifier: MIT
//
// Call: one syscall on its way through the stub; and the marks, which say who looks at calls of a number.
//
// A client is a part of syscost that looks at the program's calls before and after they are made: faults.h is one. It
// marks the numbers that it wants while it has work, so that without clients no call takes longer. special.cc asks each
// client that has marked a number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/dispatch/stub/common/state.h"

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

/// A client leaves this for the way back of a call that needs no care by nature.
struct Adapted {
  std::uint64_t vector[2];      ///< An iovec that is shorter than the program's.
  std::uint64_t delay_exit_ns;  ///< The thread waits so long once the call has come back.
  std::uint32_t clients;        ///< kMarkedBy... bits: these look at the result, too.
  std::uint32_t kinds;          ///< Those of the call's files (file_kinds.h); 0 = not asked for.
};

/// One syscall. It lies on the caller's stack below the red zone, or on a trap stack. Members that few calls need come
/// first: below a patched site the others touch 120 bytes beyond the red zone. stub_x86_64.S fills and empties it by
/// the offsets that are asserted below.
struct Call {
  // For special calls.
  Arguments used;  ///< The kernel gets these.
  union {
    KernelSigaction action;
    Stack stack;
    Adapted adapted;
  };
  KernelSigaction before;
  std::uint64_t mask;
  std::uint64_t note;
  // For all.
  std::uint64_t result;
  std::uint64_t number;
  Control control;  ///< The control of the thread's lane when the call entered.
  std::uint64_t start;
  std::uint64_t return_address;
  std::uint64_t flags;
  Thread* thread;   ///< On a trap stack also: this call is under way. Null = the stack is free.
  Arguments given;  ///< The program passed these, and gets them back.
  std::uint32_t abi;
  std::uint32_t is_altered;     ///< A fault answered or changed the call. The stub clears it with `abi`.
  std::uint64_t stack_pointer;  ///< The caller's.
  std::uint64_t frame_pointer;  ///< The caller's rbp, while it is counted with --syscost_where.
};

/// How far below the caller's stack pointer a Call on its stack lies: the red zone is left alone.
inline constexpr std::uint64_t kCallFrame = 128 + 256;

/// True if the call is kept on a stack of ours: nothing is written to the caller's.
inline bool is_on_trap_stack(const Call& call) {
  return call.stack_pointer != reinterpret_cast<std::uint64_t>(&call) + kCallFrame;
}

// Kept in step with stub_x86_64.S.
static_assert(offsetof(Call, result) == 128 && offsetof(Call, number) == 136 && offsetof(Call, control) == 144);
static_assert(offsetof(Call, start) == 152 && offsetof(Call, return_address) == 160 && offsetof(Call, flags) == 168);
static_assert(offsetof(Call, thread) == 176 && offsetof(Call, given) == 184 && offsetof(Call, used) == 0);
static_assert(offsetof(Call, abi) == 232 && offsetof(Call, is_altered) == 236 && offsetof(Call, stack_pointer) == 240 &&
              sizeof(Call) <= 256);
static_assert(offsetof(Thread, lane) == 0 && sizeof(Thread) == 512 && offsetof(Lane, control) == 0);
static_assert(offsetof(Thread, signal_stack) == 400 && offsetof(Stack, start) == 0 && offsetof(Stack, bytes) == 16);
static_assert(offsetof(Thread, runs_on_at) == 504);

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
  own_stack = 2,     ///< A clone; its child starts on another stack.
  shared_stack = 3,  ///< From a patched site, a clone; its child writes over this stack before the parent goes on.
  answered = 4,      ///< No call is made: `result` is what the program gets. Then finish_answered().
  common = 5,        ///< As a call that never came to prepare().
};

// Bits of syscost_is_special: which calls go through prepare() (special.cc), and for whom. It has one byte for each
// number.
inline constexpr unsigned char kNeedsCare = 1;  ///< By nature; never changes.
inline constexpr unsigned char kMarkedByFaults = 2;
inline constexpr unsigned char kMarkedByFiles = 4;  ///< file_client of special.h
inline constexpr unsigned char kMarkedByFileKinds = 8;
inline constexpr unsigned char kMarkedByAny = static_cast<unsigned char>(~kNeedsCare);

// Bits of syscost_any_armed.
inline constexpr char kLaneArmed = 1;
inline constexpr char kCallsMarked = 2;

inline constexpr std::uint32_t kMarkedNumbers = 512;  ///< The native ABI's; none of the kernel's is higher.

/// Numbers of syscalls of the native ABI.
struct NumberSet {
  std::uint64_t word[kMarkedNumbers / 64];

  bool has(std::uint32_t number) const {
    return number < kMarkedNumbers && (word[number / 64] >> (number % 64) & 1) != 0;
  }
  void add(std::uint32_t number) { word[number / 64] |= std::uint64_t{1} << (number % 64); }
};

/// From now on the client with the bit `client` is asked about `numbers` and no others. One caller at a time. Calls
/// that other threads have begun may still ask it for an instant.
void set_marks(unsigned char client, const NumberSet& numbers);

/// True if a call of this number is adapted by special.cc, whatever clients want.
bool needs_care(std::uint32_t number);

}  // namespace syscost::signal_safe
