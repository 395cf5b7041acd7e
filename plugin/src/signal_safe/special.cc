// SPDX-License-Identifier: MIT
//
// The calls that would notice, or undo, that we watch: signal masks, clones, thread ends, and other users of what we
// use. Each is made with arguments adapted, and what comes back is what the program would have got without us.
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "signal_safe/arming.h"
#include "signal_safe/call.h"
#include "signal_safe/memory.h"
#include "signal_safe/raw.h"
#include "signal_safe/record.h"
#include "signal_safe/signals.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kMaskBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kSetDispatch = 59;
constexpr std::uint64_t kSetGs = 0x1001;
constexpr std::uint64_t kSetTsc = 26;
constexpr std::uint64_t kTscKills = 2;  // PR_TSC_SIGSEGV

/// False for addresses that the kernel would answer with EFAULT: it shall do so.
bool is_readable(std::uint64_t address) {
  return address >= 0x1'0000 && address < 1ULL << 47;
}

template <class T>
T read_at(std::uint64_t address) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <class T>
void write_at(std::uint64_t address, T value) {
  __builtin_memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

// ---- masks ----------------------------------------------------------------------------------------------------------

/// Replaces the mask at `address` by a copy without SIGSYS.
void strip_mask(Call& call, std::uint64_t& address, std::uint64_t size) {
  if (size != kMaskBytes || !is_readable(address)) return;
  call.mask = read_at<std::uint64_t>(address) & ~kSigsysBit;
  address = reinterpret_cast<std::uint64_t>(&call.mask);
}

/// The same for the {mask, size} pair that pselect6 and io_pgetevents take.
void strip_mask_and_size(Call& call, std::uint64_t& address) {
  if (!is_readable(address)) return;
  call.mask_and_size[0] = read_at<std::uint64_t>(address);
  call.mask_and_size[1] = read_at<std::uint64_t>(address + 8);
  strip_mask(call, call.mask_and_size[0], call.mask_and_size[1]);
  address = reinterpret_cast<std::uint64_t>(call.mask_and_size);
}

void prepare_sigprocmask(Call& call) {
  call.note = call.thread->blocks_sigsys;
  if (call.given.r10 != kMaskBytes || !is_readable(call.given.rsi)) return;
  const bool names_sigsys = (read_at<std::uint64_t>(call.given.rsi) & kSigsysBit) != 0;
  const auto how = static_cast<int>(call.given.rdi);
  if (how == SIG_SETMASK) call.note |= names_sigsys ? 2 : 4;
  if (how == SIG_BLOCK && names_sigsys) call.note |= 2;
  if (how == SIG_UNBLOCK && names_sigsys) call.note |= 4;
  strip_mask(call, call.used.rsi, kMaskBytes);
}

void finish_sigprocmask(Call& call) {
  if (call.result != 0) return;
  if (is_readable(call.given.rdx) && (call.note & 1) != 0) {
    write_at(call.given.rdx, read_at<std::uint64_t>(call.given.rdx) | kSigsysBit);
  }
  if ((call.note & 2) != 0) call.thread->blocks_sigsys = 1;
  if ((call.note & 4) != 0) call.thread->blocks_sigsys = 0;
}

// ---- actions --------------------------------------------------------------------------------------------------------

void prepare_sigaction(Call& call) {
  const auto signal = static_cast<int>(call.given.rdi);
  if (call.given.r10 != kMaskBytes || signal < 1 || signal >= kSignals) return;
  if (signal == kSigsys) {
    // Ours stays; the kernel is asked all the same, for what it has to say about the arguments.
    if (is_readable(call.given.rsi)) call.used.rsi = 0;
    if (is_readable(call.given.rdx)) call.used.rdx = reinterpret_cast<std::uint64_t>(&call.action);
    call.note = 1;
    return;
  }
  if (!is_readable(call.given.rsi)) {
    call.note = 2;
    return;
  }
  call.action = read_at<KernelSigaction>(call.given.rsi);
  call.note = (call.action.mask & kSigsysBit) != 0 ? 3 : 4;
  call.action.mask &= ~kSigsysBit;
  call.used.rsi = reinterpret_cast<std::uint64_t>(&call.action);
}

void finish_sigaction(Call& call) {
  if (call.result != 0 || call.note == 0) return;
  const auto signal = static_cast<int>(call.given.rdi);
  if (call.note == 1) {
    const KernelSigaction before = signal_beliefs.sigsys;
    if (is_readable(call.given.rsi)) signal_beliefs.sigsys = read_at<KernelSigaction>(call.given.rsi);
    if (is_readable(call.given.rdx)) write_at(call.given.rdx, before);
    return;
  }
  if (is_readable(call.given.rdx) && signal_beliefs.masks_sigsys[signal] != 0) {
    const std::uint64_t mask = call.given.rdx + offsetof(KernelSigaction, mask);
    write_at(mask, read_at<std::uint64_t>(mask) | kSigsysBit);
  }
  if (call.note != 2) signal_beliefs.masks_sigsys[signal] = call.note == 3 ? 1 : 0;
}

/// A handler may have put SIGSYS into the mask that its frame restores.
void prepare_sigreturn(const Guard& guard, Call& call) {
  constexpr std::uint64_t kMaskInFrame = 296;  // uc_sigmask of the kernel's struct ucontext
  const std::uint64_t frame = reinterpret_cast<std::uint64_t>(&call) + 128 + 256;
  const std::uint64_t mask = read_at<std::uint64_t>(frame + kMaskInFrame);
  if ((mask & kSigsysBit) != 0) write_at(frame + kMaskInFrame, mask & ~kSigsysBit);
  record(guard, call, 0, false);
}

// ---- signal stacks --------------------------------------------------------------------------------------------------

constexpr std::uint64_t kDisabled = 2;  // SS_DISABLE
constexpr std::uint64_t kLeastStack = 2048;
constexpr std::uint64_t kForHandler = 4096;

/// A handler's call is a signal within a signal: a stack that holds one frame but not two is replaced by one that does.
void prepare_sigaltstack(const Guard& guard, Call& call) {
  Thread& thread = *call.thread;
  call.note = thread.own_stack.bytes != 0 ? 1 : 0;
  if (!is_readable(call.given.rdi)) return;
  call.note |= 2;
  const auto wanted = read_at<Stack>(call.given.rdi);
  const std::uint64_t two_frames = 2 * syscost_state.frame_bytes + kForHandler;
  const bool is_off = (wanted.flags & kDisabled) != 0;
  if (is_off || wanted.bytes < kLeastStack || wanted.bytes < syscost_state.frame_bytes || wanted.bytes >= two_frames) {
    return;
  }
  if (thread.bigger_stack.bytes < wanted.bytes + two_frames) {
    void* memory = take_memory(guard, wanted.bytes + two_frames);
    if (memory == nullptr) return;
    thread.bigger_stack = {reinterpret_cast<std::uint64_t>(memory), 0, wanted.bytes + two_frames};
  }
  call.stack = thread.bigger_stack;
  call.stack.flags = wanted.flags;
  call.used.rdi = reinterpret_cast<std::uint64_t>(&call.stack);
  call.note |= 4;
}

void finish_sigaltstack(Call& call) {
  if (call.result != 0) return;
  Thread& thread = *call.thread;
  if ((call.note & 1) != 0 && is_readable(call.given.rsi)) {
    auto before = read_at<Stack>(call.given.rsi);
    before.start = thread.own_stack.start;
    before.bytes = thread.own_stack.bytes;
    write_at(call.given.rsi, before);
  }
  constexpr std::uint64_t kAutodisarm = 1ULL << 31;  // SS_AUTODISARM
  if ((call.note & 2) != 0 && (read_at<Stack>(call.given.rdi).flags & kAutodisarm) != 0) thread.hides_stack = 1;
  if ((call.note & 2) != 0) thread.own_stack = (call.note & 4) != 0 ? read_at<Stack>(call.given.rdi) : Stack{};
}

// ---- children -------------------------------------------------------------------------------------------------------

enum class Child : std::uint64_t { thread = 1, foreign = 2 };

/// Puts what the child's first steps need below its stack pointer, where it reads them before anything else runs.
Plan leave_for_child(Call& call, std::uint64_t stack, std::uint64_t flags) {
  if (!is_readable(stack)) return Plan::call;
  write_at(stack - 8, call.return_address);
  write_at(stack - 16, call.flags);
  write_at(stack - 24, (flags & CLONE_THREAD) != 0 ? Child::thread : Child::foreign);
  write_at(stack - 32, call.given.rsi);
  return Plan::own_stack;
}

Plan save_for_shared(Call& call) {
  Thread& thread = *call.thread;
  Saved& saved = thread.saved[thread.saved_depth % kSaved];
  saved = {call.return_address, call.flags, call.number, call.control, syscost_forbids_ticks == 0 ? read_ticks() : 0};
  ++thread.saved_depth;
  return Plan::shared_stack;
}

Plan plan_clone(Call& call, std::uint64_t flags, std::uint64_t stack) {
  // A vfork child runs while this thread waits, and is never armed.
  if ((flags & CLONE_VM) != 0 && (flags & CLONE_VFORK) == 0) std::atomic_ref(syscost_is_alone).store(0);
  if (stack != 0) return leave_for_child(call, stack, flags);
  // Without a stack and with memory of its own the child finds all this in its copy.
  return (flags & CLONE_VM) != 0 ? save_for_shared(call) : Plan::call;
}

Plan plan_clone3(Call& call) {
  struct Head {
    std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size;
  };
  if (!is_readable(call.given.rdi) || call.given.rsi < sizeof(Head)) return Plan::call;
  const auto head = read_at<Head>(call.given.rdi);
  return plan_clone(call, head.flags, head.stack == 0 ? 0 : head.stack + head.stack_size);
}

void begin_child(const Guard& guard, Child kind) {
  Thread* parent = calling_thread(guard);
  Thread* own = nullptr;
  // A child of somebody who is not watched is not watched. Another process in the same memory neither.
  if (kind == Child::thread && parent != nullptr) {
    own = take_thread(guard);
    if (own == nullptr) std::atomic_ref(syscost_state.unseen_threads).fetch_add(1);
  }
  if (own == nullptr) {
    set_gs_base(kind == Child::thread ? &syscost_foreign_thread : &syscost_child_thread);
    return;
  }
  own->blocks_sigsys = parent->blocks_sigsys;
  if (arm_calling_thread(guard, *own) < 0) {
    set_gs_base(&syscost_foreign_thread);
    give_thread_back(guard, *own);
    std::atomic_ref(syscost_state.unseen_threads).fetch_add(1);
  }
}

void return_from_shared(const Guard& guard, Call& call, std::uint64_t now) {
  Thread& thread = *call.thread;
  const Saved& saved = thread.saved[(thread.saved_depth - 1) % kSaved];
  call.return_address = saved.return_address;
  call.flags = saved.flags;
  if (call.result == 0) {
    set_gs_base(&syscost_child_thread);
    return;
  }
  call.number = saved.number;
  call.control = saved.control;
  call.start = saved.start;
  call.abi = 0;
  --thread.saved_depth;
  record(guard, call, now);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

/// Who a call belongs to, as far as signals go. Actions are the process's, masks the thread's.
bool is_in_our_process() {
  return syscost_state.stood_aside == StoodAside::no && gs_base() != &syscost_child_thread;
}
bool is_watched(const Call& call) {
  return syscost_state.stood_aside == StoodAside::no && call.thread != &syscost_foreign_thread;
}

/// What has to do with the thread's masks and signal stack.
void prepare_signals(const Guard& guard, Call& call) {
  switch (call.number) {
    case SYS_rt_sigprocmask:
      prepare_sigprocmask(call);
      break;
    case SYS_rt_sigsuspend:
      strip_mask(call, call.used.rdi, call.given.rsi);
      break;
    case SYS_ppoll:
      strip_mask(call, call.used.r10, call.given.r8);
      break;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      strip_mask(call, call.used.r8, call.given.r9);
      break;
    case SYS_pselect6:
    case SYS_io_pgetevents:
      strip_mask_and_size(call, call.used.r9);
      break;
    case SYS_sigaltstack:
      prepare_sigaltstack(guard, call);
      break;
    default:
      break;
  }
}

Plan prepare(const Guard& guard, Call& call) {
  if (is_watched(call)) prepare_signals(guard, call);
  switch (call.number) {
    case SYS_rt_sigreturn:
      prepare_sigreturn(guard, call);
      return Plan::sigreturn;
    case SYS_clone:
      return plan_clone(call, call.given.rdi, call.given.rsi);
    case SYS_clone3:
      return plan_clone3(call);
    case SYS_vfork:
      return save_for_shared(call);
    case SYS_rt_sigaction:
      if (is_in_our_process()) prepare_sigaction(call);
      break;
    case SYS_prctl:
      if (call.given.rdi == kSetDispatch) stand_aside(guard, StoodAside::own_dispatch);
      if (call.given.rdi == kSetTsc && call.given.rsi == kTscKills) stand_aside(guard, StoodAside::no_clock);
      break;
    case SYS_arch_prctl:
      if (call.given.rdi == kSetGs) stand_aside(guard, StoodAside::own_gs);
      break;
    case SYS_exit:
      if (call.thread != &syscost_foreign_thread) {
        Thread& thread = *call.thread;
        // Whoever interrupts us from here on is nobody's.
        set_gs_base(&syscost_foreign_thread);
        call.thread = &syscost_foreign_thread;
        give_thread_back(guard, thread);
      }
      break;
    default:
      break;
  }
  return Plan::call;
}

void finish(const Guard& guard, Call& call, std::uint64_t now) {
  if (call.number == SYS_rt_sigprocmask && is_watched(call)) finish_sigprocmask(call);
  if (call.number == SYS_sigaltstack && is_watched(call)) finish_sigaltstack(call);
  if (call.number == SYS_rt_sigaction && is_in_our_process()) finish_sigaction(call);
  record(guard, call, now);
}

}  // namespace
}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub's names
extern "C" {

using syscost::signal_safe::Call;
using syscost::signal_safe::EntryPoint;
using syscost::signal_safe::Guard;

std::uint64_t syscost_prepare(Call* call) {
  const Guard guard = EntryPoint::enter();
  call->control = call->thread->lane->control;
  call->used = call->given;
  call->note = 0;
  return static_cast<std::uint64_t>(syscost::signal_safe::prepare(guard, *call));
}

void syscost_finish(Call* call, std::uint64_t now) {
  const Guard guard = EntryPoint::enter();
  syscost::signal_safe::finish(guard, *call, now);
}

/// The first steps of a child on a stack of its own.
void syscost_child(Call* /*call*/, std::uint64_t kind) {
  const Guard guard = EntryPoint::enter();
  syscost::signal_safe::begin_child(guard, static_cast<syscost::signal_safe::Child>(kind));
}

/// After a clone that shared the stack: the child's first steps, or the parent's next.
void syscost_return_from_shared(Call* call, std::uint64_t now) {
  const Guard guard = EntryPoint::enter();
  syscost::signal_safe::return_from_shared(guard, *call, now);
}
}
// NOLINTEND(readability-identifier-naming)
