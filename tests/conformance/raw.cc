// SPDX-License-Identifier: MIT
#include "raw.h"

#include <sched.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace conformance {
namespace {

// The child must not return into the caller's frame: it has a stack of its own that holds only (body, argument).
long clone_onto(void* stack_top, std::atomic<int>* tid, void (*body)(void*), void* argument) {
  auto* slot = static_cast<std::uintptr_t*>(stack_top) - 2;
  slot[0] = reinterpret_cast<std::uintptr_t>(argument);
  slot[1] = reinterpret_cast<std::uintptr_t>(body);
  constexpr long kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                          CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  register std::atomic<int>* child_tid asm("r10") = tid;
  long result = 0;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "pop %%rdi\n\t"
      "pop %%rax\n\t"
      "call *%%rax\n\t"
      "mov %[exit], %%eax\n\t"
      "xor %%edi, %%edi\n\t"
      "syscall\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "0"(static_cast<long>(SYS_clone)), "D"(kFlags), "S"(slot), "d"(tid), "r"(child_tid), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory");
  return result;
}

}  // namespace

RawThread::RawThread() {
  stack_ = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack_ == MAP_FAILED) std::abort();
}

RawThread::~RawThread() {
  spin_until([&] { return gone(); });
  munmap(stack_, kStackBytes);
}

bool RawThread::start(void (*body)(void*), void* argument) {
  // CLONE_PARENT_SETTID stores before the child runs. So when a child ends at once, tid_ still ends as 0.
  long result = clone_onto(static_cast<char*>(stack_) + kStackBytes, &tid_, body, argument);
  started_ = static_cast<int>(result);
  return result > 0;
}

}  // namespace conformance
