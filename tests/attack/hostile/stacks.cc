// SPDX-License-Identifier: MIT
//
// Stacks and registers: what lies below the stack pointer, and every register but three, is the program's own.
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_libc;
using attack::call_raw;
using attack::on_stack;

constexpr unsigned long kMinimum = 51;  // AT_MINSIGSTKSZ
constexpr char kPaint = 0x55;

/// Runs `work` on a stack of `bytes`, and sees whether what lies below it was written over.
void expect_kept_within(std::size_t bytes, void (*work)()) {
  constexpr std::size_t kBelow = std::size_t{64} * 1024;
  std::vector<char> memory(kBelow + bytes, kPaint);
  on_stack(memory.data() + memory.size(), work);
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + kBelow, kPaint), static_cast<long>(kBelow));
}

std::uintptr_t g_where = 0;
void note_where(int /*signal*/) {
  const char local = 0;
  g_where = reinterpret_cast<std::uintptr_t>(&local);  // NOLINT(clang-analyzer-core.StackAddressEscape): a number
}

/// How much of a signal stack of `bytes` a handler takes; 0: it ran elsewhere.
std::size_t touched_of(std::size_t bytes, void (*handler)(int) = note_where) {
  static std::vector<char> memory;
  memory.assign(bytes, kPaint);
  stack_t stack = {};
  stack.ss_sp = memory.data();
  stack.ss_size = bytes;
  stack_t before = {};
  EXPECT_EQ(sigaltstack(&stack, &before), 0);
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  EXPECT_LT(g_where - reinterpret_cast<std::uintptr_t>(memory.data()), bytes) << "the handler ran on another stack";
  sigaltstack(&before, nullptr);
  return bytes - static_cast<std::size_t>(
                     std::find_if(memory.begin(), memory.end(), [](char c) { return c != kPaint; }) - memory.begin());
}

}  // namespace

HOSTILE(coroutine_of_2_kib, 20, "makes calls on a coroutine's stack of 2 KiB") {
  call_libc(0);
  expect_kept_within(2048, [] { call_both(10); });
}

HOSTILE(coroutine_of_512_bytes, 10, "makes calls by its own syscall instruction on a stack of 512 bytes") {
  expect_kept_within(512, [] { call_raw(10); });
}

HOSTILE(coroutine_of_512_bytes_and_libc, 20, "makes calls through libc on a stack of 512 bytes") {
  call_libc(10);
  expect_kept_within(512, [] { call_libc(10); });
}

HOSTILE(coroutine_in_a_thread, 20, "makes calls on a coroutine's stack of 2 KiB in a thread") {
  pthread_t thread{};
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        expect_kept_within(2048, [] { call_both(10); });
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
}

HOSTILE(thread_at_the_end_of_its_stack, 10, "a thread makes calls with 300 bytes of its stack left") {
  // No signal frame fits there, and the page below must not be touched.
  const std::size_t bytes = std::size_t{64} * 1024;
  char* memory =
      static_cast<char*>(mmap(nullptr, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory, 4096, PROT_NONE);
  on_stack(memory + 4096 + 300, [] { call_raw(10); });
  munmap(memory, bytes + 4096);
}

HOSTILE(no_stack_pointer, 10, "makes calls while the stack pointer is 0, or odd") {
  for (long pointer : {0L, 1L, 7L, -1L, 0x1000L}) {
    for (int i = 0; i < 2; ++i) {
      long result = SYS_getppid;
      asm volatile(
          "movq %%rsp, %%r12\n\t"
          "movq %[pointer], %%rsp\n\t"
          "syscall\n\t"
          "movq %%r12, %%rsp"
          : "+a"(result)
          : [pointer] "r"(pointer)
          : "rcx", "r11", "r12", "memory");
      EXPECT_EQ(result, getpid() == 0 ? 0 : result);
      EXPECT_GE(result, 0);
    }
  }
}

HOSTILE(red_zone, 50, "keeps values in the 128 bytes below the stack pointer across calls") {
  for (int i = 0; i < 50; ++i) {
    long result = SYS_getppid;
    long kept = 0;
    asm volatile(
        "lea -512(%%rsp), %%rsp\n\t"
        "movq $0x5aa5, -8(%%rsp)\n\t"
        "movq $0x5aa6, -64(%%rsp)\n\t"
        "movq $0x5aa7, -128(%%rsp)\n\t"
        "syscall\n\t"
        "movq -8(%%rsp), %%r12\n\t"
        "addq -64(%%rsp), %%r12\n\t"
        "addq -128(%%rsp), %%r12\n\t"
        "lea 512(%%rsp), %%rsp\n\t"
        "movq %%r12, %[kept]"
        : "+a"(result), [kept] "=r"(kept)
        :
        : "rcx", "r11", "r12", "memory");
    EXPECT_EQ(kept, 0x5aa5 + 0x5aa6 + 0x5aa7);
  }
}

// rdi = in, rsi = out, rdx = the syscall. Loads every register that a syscall keeps, calls, stores them.
__attribute__((naked)) void call_with_registers(const std::uint64_t* /*in*/, std::uint64_t* /*out*/, long /*number*/) {
  asm("push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; push %rsi\n\t"
      "mov %rdx, %rax; mov %rdi, %rcx\n\t"
      "mov 0(%rcx), %rbx; mov 8(%rcx), %rbp; mov 16(%rcx), %rsi; mov 24(%rcx), %rdi; mov 32(%rcx), %rdx\n\t"
      "mov 40(%rcx), %r8; mov 48(%rcx), %r9; mov 56(%rcx), %r10; mov 64(%rcx), %r12; mov 72(%rcx), %r13\n\t"
      "mov 80(%rcx), %r14; mov 88(%rcx), %r15\n\t"
      "movdqu 96(%rcx), %xmm0; movdqu 112(%rcx), %xmm1; movdqu 128(%rcx), %xmm7; movdqu 144(%rcx), %xmm15\n\t"
      "std\n\t"
      "syscall\n\t"
      "pushfq; cld; pop %rax\n\t"
      "mov (%rsp), %rcx\n\t"
      "mov %rbx, 0(%rcx); mov %rbp, 8(%rcx); mov %rsi, 16(%rcx); mov %rdi, 24(%rcx); mov %rdx, 32(%rcx)\n\t"
      "mov %r8, 40(%rcx); mov %r9, 48(%rcx); mov %r10, 56(%rcx); mov %r12, 64(%rcx); mov %r13, 72(%rcx)\n\t"
      "mov %r14, 80(%rcx); mov %r15, 88(%rcx)\n\t"
      "movdqu %xmm0, 96(%rcx); movdqu %xmm1, 112(%rcx); movdqu %xmm7, 128(%rcx); movdqu %xmm15, 144(%rcx)\n\t"
      "and $0x400, %eax; mov %rax, 160(%rcx)\n\t"
      "pop %rsi; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n\t"
      "ret");
}

HOSTILE(registers_kept, 50, "checks that calls change only rax, rcx and r11, and keep the direction flag") {
  std::array<std::uint64_t, 21> in{};
  std::array<std::uint64_t, 21> out{};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0x1234567800000000U + i;
  in[20] = 0x400;
  for (int i = 0; i < 50; ++i) {
    out.fill(0);
    call_with_registers(in.data(), out.data(), SYS_getppid);
    EXPECT_EQ(in, out);
  }
}

HOSTILE(alignment_checks, 10, "makes calls while the processor checks alignment (EFLAGS.AC)") {
  for (int i = 0; i < 10; ++i) {
    long result = SYS_getppid;
    asm volatile(
        "lea -256(%%rsp), %%rsp\n\t"
        "pushfq\n\t"
        "orl $0x40000, (%%rsp)\n\t"
        "popfq\n\t"
        "syscall\n\t"
        "pushfq\n\t"
        "andl $0xfffbffff, (%%rsp)\n\t"
        "popfq\n\t"
        "lea 256(%%rsp), %%rsp"
        : "+a"(result)
        :
        : "rcx", "r11", "memory", "cc");
    EXPECT_GE(result, 0);
  }
}

HOSTILE(steps_through_calls, 10, "steps through its own calls with the trap flag and a SIGTRAP handler") {
  static volatile sig_atomic_t steps;
  steps = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { steps = steps + 1; };
  sigaction(SIGTRAP, &action, nullptr);
  for (int i = 0; i < 10; ++i) {
    long result = SYS_getppid;
    asm volatile(
        "lea -256(%%rsp), %%rsp\n\t"
        "pushfq\n\t"
        "orl $0x100, (%%rsp)\n\t"
        "popfq\n\t"
        "syscall\n\t"
        "nop\n\t"
        "pushfq\n\t"
        "andl $0xfffffeff, (%%rsp)\n\t"
        "popfq\n\t"
        "lea 256(%%rsp), %%rsp"
        : "+a"(result)
        :
        : "rcx", "r11", "memory", "cc");
    EXPECT_GE(result, 0);
  }
  EXPECT_GT(steps, 0);
}

HOSTILE(signal_stack_of_8_kib, 10,
        "a handler runs on the program's signal stack of 8 KiB, and uses as much of it as in the bare run") {
  const std::size_t touched = touched_of(8096);
  EXPECT_GT(touched, 0U);
  EXPECT_LE(touched, getauxval(kMinimum) + 1024);
  call_both(5);
}

HOSTILE(signal_stack_of_64_kib, 10, "a handler on a signal stack of 64 KiB uses as much of it as in the bare run") {
  const std::size_t touched = touched_of(std::size_t{64} * 1024);
  EXPECT_GT(touched, 0U);
  EXPECT_LE(touched, getauxval(kMinimum) + 1024);
  call_both(5);
}

HOSTILE(libc_on_a_signal_stack, 15,
        "a handler that makes calls through libc uses 256 bytes more of the signal stack than one without calls") {
  call_libc(12);  // a site that traps often may be patched
  const std::size_t without = touched_of(8096);
  const std::size_t with = touched_of(8096, [](int signal) {
    note_where(signal);
    call_libc(3);
  });
  constexpr std::size_t kOfLibc = 32;
  EXPECT_LE(with, without + 256 + kOfLibc);
}

HOSTILE(calls_on_a_small_signal_stack, 7, "a handler with 600 bytes of its signal stack left makes calls") {
  const std::size_t bytes = getauxval(kMinimum) + 1024;
  auto memory = std::make_unique<char[]>(bytes);
  stack_t stack = {};
  stack.ss_sp = memory.get();
  stack.ss_size = bytes;
  ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
  struct sigaction action = {};
  action.sa_handler = [](int) { call_raw(5); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  call_both(1);
  stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

HOSTILE(signal_stack_disarms_itself, 10, "sets a signal stack with SS_AUTODISARM, and changes it inside the handler") {
  static std::vector<char> memory;
  memory.assign(std::size_t{64} * 1024, kPaint);
  stack_t stack = {};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  stack.ss_flags = static_cast<int>(1U << 31U);  // SS_AUTODISARM
  ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
  static stack_t inside;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    sigaltstack(nullptr, &inside);
    call_both(2);
  };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  EXPECT_EQ(inside.ss_flags, SS_DISABLE);
  stack_t after = {};
  sigaltstack(nullptr, &after);
  EXPECT_EQ(after.ss_sp, memory.data());
  call_both(3);
  stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}
