// SPDX-License-Identifier: MIT
//
// A call that was dispatched or patched must not change any register except rax, rcx and r11, nor the flags, nor the
// red zone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "opened.h"

namespace syscost::dispatch {
namespace {

struct Machine {
  std::array<std::uint64_t, 12> registers;  // rdi rsi rdx r10 r8 r9 rbx rbp r12 r13 r14 r15
  std::uint64_t flags;
  std::array<std::uint64_t, 16> red_zone;
  std::array<std::uint64_t, 2> vector;  // xmm7
  std::uint64_t result;
};

/// getppid with the registers of `in`, and what is in them afterwards.
__attribute__((noinline, naked)) void call_with(const Machine* /*in*/, Machine* /*out*/) {
  asm volatile(R"(
        push %rbx
        push %rbp
        push %r12
        push %r13
        push %r14
        push %r15
        push %rsi
        push %rdi
        mov %rdi, %rax
        movdqu 232(%rax), %xmm7
        # the red zone
        .set i, 0
        .rept 16
        mov 104 + 8 * i(%rax), %rcx
        mov %rcx, -128 + 8 * i(%rsp)
        .set i, i + 1
        .endr
        mov 8(%rax), %rsi
        mov 16(%rax), %rdx
        mov 24(%rax), %r10
        mov 32(%rax), %r8
        mov 40(%rax), %r9
        mov 48(%rax), %rbx
        mov 56(%rax), %rbp
        mov 64(%rax), %r12
        mov 72(%rax), %r13
        mov 80(%rax), %r14
        mov 88(%rax), %r15
        mov 96(%rax), %rcx
        mov 0(%rax), %rdi
        # flags: through memory above the stack's end of ours
        lea -256(%rsp), %rsp
        push %rcx
        popfq
        lea 256(%rsp), %rsp
        mov $110, %eax
        syscall
        mov %rax, %r11
        lea -256(%rsp), %rsp
        pushfq
        pop %rcx
        lea 256(%rsp), %rsp
        mov 8(%rsp), %rax
        mov %r11, 248(%rax)
        mov %rcx, 96(%rax)
        mov %rdi, 0(%rax)
        mov %rsi, 8(%rax)
        mov %rdx, 16(%rax)
        mov %r10, 24(%rax)
        mov %r8, 32(%rax)
        mov %r9, 40(%rax)
        mov %rbx, 48(%rax)
        mov %rbp, 56(%rax)
        mov %r12, 64(%rax)
        mov %r13, 72(%rax)
        mov %r14, 80(%rax)
        mov %r15, 88(%rax)
        movdqu %xmm7, 232(%rax)
        .set i, 0
        .rept 16
        mov -128 + 8 * i(%rsp), %rcx
        mov %rcx, 104 + 8 * i(%rax)
        .set i, i + 1
        .endr
        pop %rdi
        pop %rsi
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbp
        pop %rbx
        cld
        ret
  )");
}

Machine filled(std::uint64_t flags) {
  Machine machine{};
  std::uint64_t value = 0x0123'4567'89ab'cdef;
  auto next = [&value] { return value = value * 6364136223846793005ULL + 1442695040888963407ULL; };
  for (std::uint64_t& one : machine.registers) one = next();
  for (std::uint64_t& one : machine.red_zone) one = next();
  for (std::uint64_t& one : machine.vector) one = next();
  machine.flags = flags;
  return machine;
}

TEST(Registers, AreLeftAloneByADispatchedCall) {
  OpenedDispatch opened(Patching::never);
  ASSERT_NE(opened.backend, nullptr);
  constexpr std::uint64_t kAlways = 0x202;
  constexpr std::uint64_t kCarry = 0x1;
  constexpr std::uint64_t kParity = 0x4;
  constexpr std::uint64_t kAdjust = 0x10;
  constexpr std::uint64_t kZero = 0x40;
  constexpr std::uint64_t kSign = 0x80;
  constexpr std::uint64_t kOverflow = 0x800;
  errno = 1234;
  const std::uint64_t counted = opened.count(SYS_getppid, [] {
    for (std::uint64_t flags : {std::uint64_t{0}, kCarry, kParity, kAdjust, kZero, kSign, kOverflow,
                                kCarry | kParity | kAdjust | kZero | kSign | kOverflow}) {
      const Machine in = filled(kAlways | flags);
      Machine out{};
      call_with(&in, &out);
      EXPECT_EQ(out.registers, in.registers) << std::hex << flags;
      EXPECT_EQ(out.red_zone, in.red_zone) << std::hex << flags;
      EXPECT_EQ(out.vector, in.vector) << std::hex << flags;
      EXPECT_EQ(out.flags, in.flags);
      EXPECT_EQ(out.result, static_cast<std::uint64_t>(getppid()));
    }
  });
  EXPECT_EQ(errno, 1234);
  EXPECT_EQ(counted, 16U);  // and one more each by the comparison
}

}  // namespace
}  // namespace syscost::dispatch
