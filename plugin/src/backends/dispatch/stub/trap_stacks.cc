// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/trap_stacks.h"

#include <ucontext.h>

#include <atomic>
#include <cstddef>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/unwind.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

struct TrapStack {
  unsigned char room[kTrapStackBytes - 256];  ///< For the stub's C code.
  Call call;
};
// Kept in step with stub_x86_64.S.
static_assert(sizeof(TrapStack) == kTrapStackBytes && kTrapStackBytes == 2048 && kTrapStacks == 4);
static_assert(offsetof(TrapStack, call) == 1792);

/// They lie above the thread's signal stack, the first one next to it. So there is room below one of them for a frame
/// that the kernel puts there, for a handler that was installed while the thread was not watched.
TrapStack* stacks_of(const Thread& thread) {
  return reinterpret_cast<TrapStack*>(thread.signal_stack.start + thread.signal_stack.bytes);
}

Call* call_at(const Thread& thread, std::uint64_t stack_pointer) {
  if (thread.signal_stack.bytes == 0) return nullptr;
  TrapStack* stacks = stacks_of(thread);
  const std::uint64_t offset = stack_pointer - reinterpret_cast<std::uint64_t>(stacks);
  return offset < kTrapStacks * kTrapStackBytes ? &stacks[offset / kTrapStackBytes].call : nullptr;
}

/// What `lahf` and `seto` keep of the flags.
std::uint64_t kept_flags(std::uint64_t flags) {
  constexpr unsigned kOverflow = 11;
  return (flags & 0xff) << 8 | (flags >> kOverflow & 1);
}

}  // namespace

bool enter_on_trap_stack(const Guard& /*guard*/, SignalFrame& frame, Thread& thread, std::uint64_t return_address) {
  if (thread.signal_stack.bytes == 0) return false;
  TrapStack* stacks = stacks_of(thread);
  std::uint64_t i = 0;
  while (i < kTrapStacks && stacks[i].call.thread != nullptr) ++i;
  if (i == kTrapStacks) return false;
  Call& call = stacks[i].call;
  std::uint64_t* registers = frame.registers;
  call.number = registers[REG_RAX];
  call.return_address = return_address;
  call.flags = kept_flags(registers[REG_EFL]);
  call.stack_pointer = registers[REG_RSP];
  call.thread = &thread;
  // Where what the stub calls will return to (cancel.cc); what stood there was that of another call.
  write_at<std::uint64_t>(reinterpret_cast<std::uint64_t>(&call) - 8, 0);
  registers[REG_RSP] = reinterpret_cast<std::uint64_t>(&call);
  registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_stub_trapped);
  return true;
}

void free_trap_stacks(Thread& thread) {
  if (thread.signal_stack.bytes == 0) return;
  for (std::uint64_t i = 0; i < kTrapStacks; ++i) stacks_of(thread)[i].call.thread = nullptr;
}

std::uint64_t trap_stacks_in_use(const Thread& thread) {
  std::uint64_t in_use = 0;
  if (thread.signal_stack.bytes == 0) return in_use;
  for (std::uint64_t i = 0; i < kTrapStacks; ++i) {
    if (stacks_of(thread)[i].call.thread != nullptr) in_use |= 1ULL << i;
  }
  return in_use;
}

void keep_trap_stacks(Thread& thread, std::uint64_t in_use) {
  if (thread.signal_stack.bytes == 0) return;
  for (std::uint64_t i = 0; i < kTrapStacks; ++i) {
    if ((in_use >> i & 1) == 0) stacks_of(thread)[i].call.thread = nullptr;
  }
}

bool holds_trapped_calls(const Guard& /*guard*/, const Thread* but) {
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    const Thread& thread = syscost_threads[i];
    if (&thread == but) continue;
    if (std::atomic_ref(const_cast<std::uint32_t&>(thread.is_used)).load() == 0 || thread.signal_stack.bytes == 0)
      continue;
    for (std::uint64_t k = 0; k < kTrapStacks; ++k) {
      if (std::atomic_ref(stacks_of(thread)[k].call.thread).load() != nullptr) return true;
    }
  }
  return false;
}

Call* call_above(std::uint64_t stack_pointer) {
  stack_pointer = stack_pointer_outside(stack_pointer);
  const auto arena = reinterpret_cast<std::uint64_t>(syscost_state.arena);
  if (stack_pointer - arena >= syscost_state.arena_bytes) return nullptr;
  // Nearly always its own; but a coroutine that a handler has left may go on in another thread.
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    Call* call = call_at(syscost_threads[i], stack_pointer);
    if (call != nullptr) return call;
  }
  return nullptr;
}

std::uint64_t users_stack_pointer(const SignalFrame& frame) {
  const std::uint64_t stack_pointer = stack_pointer_outside(frame.registers[REG_RSP]);
  const Call* call = call_above(stack_pointer);
  return call != nullptr ? call->stack_pointer : stack_pointer;
}

}  // namespace syscost::signal_safe
