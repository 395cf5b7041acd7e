// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/frames.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/cancel.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kRedZone = 128;
constexpr std::uint64_t kHandlerClears = 0x1'0500;  // resume, direction and trap flag
constexpr std::uint32_t kMagic = 0x4650'5853;       // FP_XSTATE_MAGIC1
constexpr std::uint64_t kLegacyBytes = 512;

/// It follows the registers of the first vector unit: struct _fpx_sw_bytes.
struct VectorHeader {
  std::uint32_t magic;
  std::uint32_t bytes;  ///< All of the vector state, with a magic number at the end.
  std::uint64_t features;
};
constexpr std::uint64_t kVectorHeader = 464;

VectorHeader vector_header(std::uint64_t state) {
  auto header = read_at<VectorHeader>(state + kVectorHeader);
  if (header.magic != kMagic) header = {0, kLegacyBytes, 0};
  return header;
}

/// Copies what the kernel has written and nothing between: what lies there is the program's stack as it was.
void copy_vector_state(std::uint64_t to, std::uint64_t from, const VectorHeader& header) {
  auto copy = [&](std::uint64_t offset, std::uint64_t bytes) { copy_bytes(to + offset, from + offset, bytes); };
  constexpr std::uint64_t kFirstUnits = 416;
  copy(0, kFirstUnits);
  copy(kVectorHeader, kLegacyBytes - kVectorHeader);
  if (header.magic == 0) return;
  constexpr std::uint64_t kExtendedHeader = 64;
  copy(kLegacyBytes, kExtendedHeader);
  // The kernel leaves AMX's tiles out if no one uses them (XFEATURE_MASK_SIGFRAME_INITOPT,
  // arch/x86/kernel/fpu/xstate.h).
  constexpr std::uint64_t kTiles = 3ULL << 17;
  const std::uint64_t unused = ~read_at<std::uint64_t>(from + kLegacyBytes);
  const std::uint64_t features = header.features & ~(kTiles & unused);
  for (std::uint32_t i = 2; i < kVectorParts; ++i) {
    const VectorPart& part = syscost_state.vector_parts[i];
    if ((features >> i & 1) != 0 && part.offset + part.bytes <= header.bytes) copy(part.offset, part.bytes);
  }
  copy(header.bytes - sizeof header.magic, sizeof header.magic);
}

/// Where the kernel puts a frame on a stack that is free below `top`.
struct Place {
  std::uint64_t vector_state;
  std::uint64_t frame;
};
Place place_below(std::uint64_t top, std::uint64_t vector_bytes) {
  const std::uint64_t vector_state = (top - vector_bytes) & ~std::uint64_t{63};
  return {vector_state, ((vector_state - sizeof(SignalFrame)) & ~std::uint64_t{15}) - 8};
}

bool holds(const Stack& stack, std::uint64_t address) {
  return address > stack.start && address - stack.start <= stack.bytes;
}

/// As the kernel does when a frame does not fit on the program's signal stack.
void die_of_overflow(SignalFrame& frame) {
  constexpr std::uint64_t kSegvBit = 1ULL << (SIGSEGV - 1);
  set_default_action(SIGSEGV);
  frame.mask &= ~kSegvBit;
  syscost_raw_syscall(SYS_tgkill, syscost_raw_syscall(SYS_getpid), syscost_raw_syscall(SYS_gettid), SIGSEGV);
}

/// Writes the program's frame; reserved bytes stay as they were, as the kernel leaves them.
void write_frame(SignalFrame& to, const SignalFrame& from, const KernelSigaction& action, const Place& place) {
  to.restorer = reinterpret_cast<std::uint64_t>(action.restorer);
  to.flags = from.flags;
  to.link = from.link;
  copy_bytes(reinterpret_cast<std::uint64_t>(to.registers), reinterpret_cast<std::uint64_t>(from.registers),
             sizeof from.registers);
  to.vector_state = place.vector_state;
  to.mask = from.mask;
  if ((action.flags & SA_SIGINFO) == 0) return;
  copy_bytes(reinterpret_cast<std::uint64_t>(&to.info), reinterpret_cast<std::uint64_t>(&from.info), sizeof from.info);
}

/// As the kernel writes it: the bytes that fill up between stay as they were.
void set_stack(SignalFrame& frame, const Stack& stack) {
  frame.stack.start = stack.start;
  frame.stack.flags = stack.flags;
  frame.stack.bytes = stack.bytes;
}

/// Changes `entry`, a copy of the kernel's frame: its return then starts the handler, with its frame at `frame`.
void start_handler(SignalFrame& entry, int signal, const KernelSigaction& action, std::uint64_t frame) {
  std::uint64_t* registers = entry.registers;
  registers[REG_RDI] = static_cast<std::uint64_t>(signal);
  registers[REG_RSI] = frame + offsetof(SignalFrame, info);
  registers[REG_RDX] = frame + offsetof(SignalFrame, flags);
  registers[REG_RAX] = 0;
  registers[REG_RSP] = frame;
  registers[REG_RIP] = reinterpret_cast<std::uint64_t>(action.handler);
  // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): copy_bytes(), in assembly, has written a copy
  registers[REG_EFL] &= ~kHandlerClears;
  entry.vector_state = 0;
}

/// The signal stack that the kernel knows, given back to its thread: it begins with the address of its record.
Thread* owner_of(const Stack& stack) {
  const auto arena = reinterpret_cast<std::uint64_t>(syscost_state.arena);
  if (stack.start < arena || stack.start >= arena + syscost_state.arena_bytes) return nullptr;
  auto* thread = read_at<Thread*>(stack.start);
  const bool is_record = thread >= syscost_threads && thread < syscost_threads + kThreads;
  return is_record && thread->signal_stack.start == stack.start ? thread : nullptr;
}

}  // namespace

bool is_on(const Stack& stack, std::uint64_t address) {
  return (stack.flags & kAutodisarm) == 0 && holds(stack, address);
}

void load_vectors(const SignalFrame& frame) {
  if (frame.vector_state == 0) return;
  const std::uint64_t features = vector_header(frame.vector_state).features;
  if (features == 0) {
    asm volatile("fxrstor64 (%0)" : : "r"(frame.vector_state) : "memory");
    return;
  }
  const auto low = static_cast<std::uint32_t>(features);
  const auto high = static_cast<std::uint32_t>(features >> 32);
  asm volatile("xrstor64 (%0)" : : "r"(frame.vector_state), "a"(low), "d"(high) : "memory");
}

void store_vectors(SignalFrame& frame) {
  if (frame.vector_state == 0) return;
  const std::uint64_t features = vector_header(frame.vector_state).features;
  if (features == 0) {
    asm volatile("fxsave64 (%0)" : : "r"(frame.vector_state) : "memory");
    return;
  }
  const auto low = static_cast<std::uint32_t>(features);
  const auto high = static_cast<std::uint32_t>(features >> 32);
  asm volatile("xsave64 (%0)" : : "r"(frame.vector_state), "a"(low), "d"(high) : "memory");
}

Thread* interrupted_thread(const Guard& guard, SignalFrame& frame) {
  if (Thread* owner = owner_of(frame.stack); owner != nullptr) return owner;
  Thread* thread = calling_thread(guard);
  if (thread == nullptr || is_being_born(guard)) return nullptr;
  if (thread->signal_stack.bytes == 0) return thread;
  thread->own_stack = frame.stack;
  frame.stack = thread->signal_stack;
  return thread;
}

void enter_handler(const Guard& guard, SignalFrame& frame, int signal, const KernelSigaction& action, Thread* thread) {
  settle_call(guard, frame, thread);
  const std::uint64_t stack_pointer = users_stack_pointer(frame);
  const bool has_ours = thread != nullptr && thread->signal_stack.bytes != 0;
  const Stack own = has_ours ? thread->own_stack : frame.stack;
  const bool is_nested = is_on(own, stack_pointer);
  const bool enters_own = (action.flags & SA_ONSTACK) != 0 && own.bytes != 0 && !is_nested;
  const VectorHeader vector = vector_header(frame.vector_state);
  const Place place = place_below(enters_own ? own.start + own.bytes : stack_pointer - kRedZone, vector.bytes);
  if ((is_nested || enters_own) && !holds(own, place.frame)) {
    die_of_overflow(frame);
    return;
  }
  // On a thread that is not watched the kernel may have put the frame into its place itself.
  const bool is_in_place = place.frame == reinterpret_cast<std::uint64_t>(&frame);
  SignalFrame* entry = &frame;
  alignas(16) unsigned char copy[sizeof(SignalFrame)];
  if (is_in_place) {
    entry = reinterpret_cast<SignalFrame*>(copy);
    copy_bytes(reinterpret_cast<std::uint64_t>(copy), place.frame, sizeof copy);
    frame.restorer = reinterpret_cast<std::uint64_t>(action.restorer);
  } else {
    copy_vector_state(place.vector_state, frame.vector_state, vector);
    write_frame(*reinterpret_cast<SignalFrame*>(place.frame), frame, action, place);
  }
  auto& moved = *reinterpret_cast<SignalFrame*>(place.frame);
  set_stack(moved, own);

  std::uint64_t added = action.mask;
  if ((action.flags & SA_NODEFER) == 0) added |= 1ULL << (signal - 1);
  std::uint64_t mask = frame.mask | added;
  if (thread != nullptr) {
    // The program sees SIGSYS in its masks where it put it; the kernel never does.
    const bool was_blocked = thread->blocks_outside != 0 ? thread->blocks_outside == 2 : thread->blocks_sigsys != 0;
    thread->blocks_outside = 0;
    thread->awaits_sigsys = 0;
    // Where the kernel has it, a call that waits was interrupted.
    moved.mask = (moved.mask & ~kSigsysBit) | (was_blocked ? kSigsysBit : 0);
    believe_blocked(*thread, was_blocked || (added & kSigsysBit) != 0);
    mask &= ~kSigsysBit;
  }
  const bool forgets_stack = (own.flags & kAutodisarm) != 0;
  if (forgets_stack && has_ours) {
    thread->own_stack = kNoStack;
    thread->hides_stack = 1;
  } else if (forgets_stack) {
    entry->stack = kNoStack;
  }
  entry->mask = mask;
  start_handler(*entry, signal, action, place.frame);
  if (is_in_place) syscost_sigreturn_from(entry);
}

void prepare_sigreturn(const Guard& /*guard*/, SignalFrame& frame, Thread& thread) {
  adopt_call(frame, thread);
  const bool is_blocked = (frame.mask & kSigsysBit) != 0;
  frame.mask &= ~kSigsysBit;
  if (thread.signal_stack.bytes != 0) {
    const Stack wanted = frame.stack;
    // The kernel takes it unless the code that goes on runs on the one there is.
    if (!is_on(thread.own_stack, users_stack_pointer(frame)) && error_of(wanted) == 0) believe(thread, wanted);
    set_stack(frame, thread.signal_stack);
  }
  believe_blocked(thread, is_blocked);
}

}  // namespace syscost::signal_safe
