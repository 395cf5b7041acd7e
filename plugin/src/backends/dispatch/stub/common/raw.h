// SPDX-License-Identifier: MIT
//
// Syscalls of our own: made from the one stretch of code that is never dispatched, errno untouched. With them a thread
// holds its signals. Here are also the places of the stub that other code jumps to.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): the stub's names
extern "C" {
/// Returns what the kernel returned: -errno on failure.
long syscost_raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);
/// Where syscalls are not dispatched: [begin, end).
extern const char syscost_undispatched_begin[];
extern const char syscost_undispatched_end[];
/// Return from a handler of ours.
void syscost_restorer();
/// The instructions by which a handler of the program returns, where they are not dispatched.
extern const char syscost_sigreturn[];
/// Returns by way of `frame`, wherever that lies.
[[noreturn]] void syscost_sigreturn_from(void* frame);
/// A trapped call continues here, with rsp = its Call on a trap stack.
extern const char syscost_stub_trapped[];
/// The same on the caller's stack, with rcx = where the call returns to: a patched site jumps here.
extern const char syscost_stub[];
/// The same for int $0x80, with the return address on the stack below the red zone.
extern const char syscost_stub_int80[];
/// A trapped exit continues here, with r11 = the address of `is_used` of the record that it gives back.
extern const char syscost_end_thread[];
/// A patched site jumps here if its call needs no care by nature (call.h): r11 = where it returns to. Costs next to
/// nothing while no lane is armed, and no client looks at calls.
extern const char syscost_stub_plain[];
/// By number: why a call goes through prepare() (special.cc). Bits of call.h.
extern unsigned char syscost_is_special[512];
}
// NOLINTEND(readability-identifier-naming)

namespace syscost::signal_safe {

inline void set_gs_base(const void* base) {
  asm volatile("wrgsbase %0" : : "r"(base) : "memory");
}
inline void* gs_base() {
  void* base = nullptr;
  asm volatile("rdgsbase %0" : "=r"(base));
  return base;
}
inline std::uint64_t read_ticks() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

/// Blocks all signals of the calling thread from its constructor to its destructor, so that no handler of the program
/// interrupts our work. Make only raw syscalls meanwhile, because SIGSYS is held, too.
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
