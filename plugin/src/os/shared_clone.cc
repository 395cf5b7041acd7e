// SPDX-License-Identifier: MIT
#include "os/shared_clone.h"

#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>

namespace syscost {

#ifdef __x86_64__
pid_t clone_sharing_memory(int exit_signal, void* stack_top, pid_t* child, void (*run)(void*), void* argument) {
  long flags = CLONE_VM | CLONE_VFORK | exit_signal;
  if (child != nullptr) flags |= CLONE_PARENT_SETTID;
  register long child_tid asm("r10") = 0;
  register long storage asm("r8") = 0;
  long result = SYS_clone;
  // The child finds itself on its empty stack, with our registers: no value of ours may come from the old one.
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"  // the last frame
      "mov %[argument], %%rdi\n\t"
      "call *%[run]\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(flags), "S"(stack_top), "d"(child), "r"(child_tid), "r"(storage), [run] "b"(run), [argument] "r"(argument)
      : "rcx", "r11", "memory", "cc");
  if (result >= 0) return static_cast<pid_t>(result);
  errno = static_cast<int>(-result);
  return -1;
}
#else
pid_t clone_sharing_memory(int exit_signal, void* stack_top, pid_t* child, void (*run)(void*), void* argument) {
  struct Call {
    void (*run)(void*);
    void* argument;
  } call{run, argument};
  int flags = CLONE_VM | CLONE_VFORK | exit_signal;
  if (child != nullptr) flags |= CLONE_PARENT_SETTID;
  return clone(
      [](void* pointer) {
        const Call& its = *static_cast<Call*>(pointer);
        its.run(its.argument);
        return 0;
      },
      stack_top, flags, &call, child);
}
#endif

}  // namespace syscost
