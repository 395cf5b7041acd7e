// SPDX-License-Identifier: MIT
//
// Our shared libraries go to libc itself, also where the program defines a function of libc's name (symbols.h).
//
// Each name of names.inc is defined here, hidden in the library, so that the linker binds every call of that name in
// the library to this one, and no call has to be written in another way. It jumps to libc's function. The first call
// looks that up.
#include <atomic>
#include <cerrno>

#include "libc/symbols.h"

#ifndef __x86_64__
#error "syscost knows x86-64 only"
#endif

// The slow way keeps every register that may hold an argument.
#define SYSCOST_NAME(name)            \
  ".pushsection .bss\n"               \
  ".balign 8\n"                       \
  ".Lslot_" #name                     \
  ": .skip 8\n"                       \
  ".popsection\n"                     \
  ".pushsection .rodata\n"            \
  ".Lname_" #name ": .asciz \"" #name \
  "\"\n"                              \
  ".popsection\n"                     \
  ".globl " #name                     \
  "\n"                                \
  ".hidden " #name                    \
  "\n"                                \
  ".type " #name                      \
  ", @function\n"                     \
  ".balign 16\n" #name                \
  ":\n"                               \
  "  .cfi_startproc\n"                \
  "  endbr64\n"                       \
  "  movq .Lslot_" #name              \
  "(%rip), %r11\n"                    \
  "  testq %r11, %r11\n"              \
  "  jz 1f\n"                         \
  "  jmp *%r11\n"                     \
  "1:\n"                              \
  "  leaq .Lslot_" #name              \
  "(%rip), %r11\n"                    \
  "  leaq .Lname_" #name              \
  "(%rip), %r10\n"                    \
  "  call syscost_libc_enter\n"       \
  "  jmp *.Lslot_" #name              \
  "(%rip)\n"                          \
  "  .cfi_endproc\n"                  \
  ".size " #name ", . - " #name "\n"

__asm__(
    ".text\n"
#include "libc/names.inc"
    ".hidden syscost_libc_enter\n"
    ".type syscost_libc_enter, @function\n"
    "syscost_libc_enter:\n"
    "  .cfi_startproc\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rax\n"
    "  pushq %rdi\n"
    "  pushq %rsi\n"
    "  pushq %rdx\n"
    "  pushq %rcx\n"
    "  pushq %r8\n"
    "  pushq %r9\n"
    "  pushq %rbx\n"
    "  subq $128, %rsp\n"
    "  .cfi_adjust_cfa_offset 192\n"
    "  movups %xmm0, (%rsp)\n"
    "  movups %xmm1, 16(%rsp)\n"
    "  movups %xmm2, 32(%rsp)\n"
    "  movups %xmm3, 48(%rsp)\n"
    "  movups %xmm4, 64(%rsp)\n"
    "  movups %xmm5, 80(%rsp)\n"
    "  movups %xmm6, 96(%rsp)\n"
    "  movups %xmm7, 112(%rsp)\n"
    "  movq %r10, %rdi\n"
    "  movq %r11, %rsi\n"
    "  call syscost_libc_fill\n"
    "  movups (%rsp), %xmm0\n"
    "  movups 16(%rsp), %xmm1\n"
    "  movups 32(%rsp), %xmm2\n"
    "  movups 48(%rsp), %xmm3\n"
    "  movups 64(%rsp), %xmm4\n"
    "  movups 80(%rsp), %xmm5\n"
    "  movups 96(%rsp), %xmm6\n"
    "  movups 112(%rsp), %xmm7\n"
    "  addq $128, %rsp\n"
    "  popq %rbx\n"
    "  popq %r9\n"
    "  popq %r8\n"
    "  popq %rcx\n"
    "  popq %rdx\n"
    "  popq %rsi\n"
    "  popq %rdi\n"
    "  popq %rax\n"
    "  .cfi_adjust_cfa_offset -192\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size syscost_libc_enter, . - syscost_libc_enter\n");

namespace {

/// For a name that this libc lacks: what the kernel says of a call that it does not know.
long say_that_it_is_missing() {
  errno = ENOSYS;
  return -1;
}

/// While one thread loads this library, no other changes the list of modules.
__attribute__((constructor(101))) void find_libc() {
  syscost::libc::symbol("errno");
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) void syscost_libc_fill(const char* name,
                                                                              std::atomic<void*>* slot) {
  void* const found = syscost::libc::symbol(name);
  slot->store(found != nullptr ? found : reinterpret_cast<void*>(&say_that_it_is_missing), std::memory_order_relaxed);
}
