// SPDX-License-Identifier: MIT
#include "signal_safe/signal_calls.h"

#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "signal_safe/memory.h"
#include "signal_safe/record.h"
#include "signal_safe/signals.h"
#include "signal_safe/user_memory.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kMaskBytes = sizeof(std::uint64_t);

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

}  // namespace

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

namespace {

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

}  // namespace

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

}  // namespace syscost::signal_safe
