// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/stacks.h"

#include <errno.h>
#include <sys/syscall.h>

#include "backends/dispatch/stub/frames.h"
#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint32_t kOnStack = 1;  // SS_ONSTACK
constexpr std::uint64_t kLeastStack = 2048;

long set_stack(const Stack* fresh, Stack* before) {
  return syscost_raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(fresh), reinterpret_cast<long>(before));
}

/// What sigaltstack shows of `stack` to code that runs at `stack_pointer`.
Stack shown(const Stack& stack, std::uint64_t stack_pointer) {
  std::uint32_t flags = stack.flags & kAutodisarm;
  if (stack.bytes == 0) flags |= kDisabled;
  if (is_on(stack, stack_pointer)) flags |= kOnStack;
  return {stack.start, flags, 0, stack.bytes};
}

}  // namespace

void take_stack(const Guard& /*guard*/, Thread& thread) {
  thread.own_stack = kNoStack;
  if (thread.signal_stack.bytes == 0) return;
  Stack before = kNoStack;
  // It cannot be changed by code that runs on it; the next dispatched call then does it (interrupted_thread).
  if (set_stack(&thread.signal_stack, &before) < 0 && set_stack(nullptr, &before) < 0) return;
  if (before.start == thread.signal_stack.start) return;
  thread.own_stack = before;
  thread.own_stack.flags &= ~kOnStack;
}

void give_stack_back(const Guard& /*guard*/, const Thread& thread) {
  if (thread.signal_stack.bytes != 0) set_stack(&thread.own_stack, nullptr);
}

int error_of(const Stack& stack) {
  const std::uint32_t mode = stack.flags & ~kAutodisarm;
  if (mode != 0 && mode != kOnStack && mode != kDisabled) return EINVAL;
  return mode != kDisabled && stack.bytes < kLeastStack ? ENOMEM : 0;
}

void believe(Thread& thread, const Stack& stack) {
  thread.own_stack.flags = stack.flags;
  const bool is_off = (stack.flags & kDisabled) != 0;
  thread.own_stack.start = is_off ? 0 : stack.start;
  thread.own_stack.bytes = is_off ? 0 : stack.bytes;
  if ((stack.flags & kAutodisarm) != 0) thread.hides_stack = 1;
}

// The kernel is asked in any case: it says whether there is memory at `old`, and the call is one call.
void prepare_sigaltstack(Call& call) {
  Thread& thread = *call.thread;
  call.note = 0;
  if (thread.signal_stack.bytes == 0) return;
  call.used.rdi = 0;
  if (call.given.rdi == 0) return;
  int error = 0;
  if (!read_user(call.given.rdi, call.stack)) {
    error = EFAULT;
  } else if (is_on(thread.own_stack, call.stack_pointer)) {
    error = EPERM;
  } else {
    error = error_of(call.stack);
  }
  if (error != 0) call.used.rsi = 0;
  call.note = error != 0 ? static_cast<std::uint64_t>(error) << 1 : 1;
}

void finish_sigaltstack(Call& call) {
  Thread& thread = *call.thread;
  if (thread.signal_stack.bytes == 0) return;
  if (call.note > 1) {
    call.result = -(call.note >> 1);
    return;
  }
  const Stack before = shown(thread.own_stack, call.stack_pointer);
  // Where `old` cannot be written the kernel has set the new one all the same.
  const auto result = static_cast<std::int64_t>(call.result);
  if (call.note == 1 && (result == 0 || result == -EFAULT)) believe(thread, call.stack);
  if (result == 0 && call.given.rsi != 0 && !write_user(call.given.rsi, before)) {
    call.result = ~std::uint64_t{EFAULT} + 1;
  }
}

}  // namespace syscost::signal_safe
