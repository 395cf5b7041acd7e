// SPDX-License-Identifier: MIT
#include "signal_safe/signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>

#include "signal_safe/arming.h"
#include "signal_safe/cancel.h"
#include "signal_safe/frames.h"
#include "signal_safe/raw.h"
#include "signal_safe/record.h"
#include "signal_safe/user_memory.h"

namespace syscost::signal_safe {

SignalBeliefs signal_beliefs{};

namespace {

constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH of asm-generic/siginfo.h, missing in older headers
constexpr unsigned kArchI386 = 0x4000'0003;
constexpr std::uint64_t kRestorer = 0x0400'0000;  // SA_RESTORER
constexpr std::uint64_t kNeverBlocked = 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1);

long set_action(int signal, const KernelSigaction* action, KernelSigaction* before) {
  return syscost_raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(action), reinterpret_cast<long>(before),
                             sizeof(std::uint64_t));
}

/// Remembered, so that the backend can patch the site between two windows. Lossy, never wrong.
void remember_site(std::uint64_t return_address) {
  const std::uint64_t hash = return_address * 0x9E37'79B9'7F4A'7C15ULL >> 54;
  for (std::uint64_t i = 0; i < 4; ++i) {
    std::atomic_ref place(syscost_state.sites[(hash + i) % kSites]);
    std::uint64_t seen = place.load(std::memory_order_relaxed);
    if ((seen & ~kAsked) == return_address || (seen == 0 && place.compare_exchange_strong(seen, return_address)))
      return;
  }
}

/// A SIGSYS that is not ours: as if it had been delivered to the program's own action.
void deliver_to_program(const Guard& guard, SignalFrame& frame, const siginfo_t& info) {
  Thread* thread = interrupted_thread(guard, frame);
  const bool was_sent = info.si_code <= 0 || info.si_code == kUserDispatch;  // a process may say so to itself
  if (was_sent && thread != nullptr && thread->blocks_sigsys != 0) {
    // It waits until the program unblocks it, or asks for it.
    if (thread->has_pending == 0) {
      copy_bytes(reinterpret_cast<std::uint64_t>(&thread->pending), reinterpret_cast<std::uint64_t>(&info),
                 sizeof thread->pending);
      thread->has_pending = 1;
    }
    return;
  }
  KernelSigaction& believed = signal_beliefs.actions[kSigsys];
  // The kernel ignores one that was sent, and kills where the thread itself caused it.
  if (believed.handler == SIG_IGN && was_sent) return;
  if (!is_handler(believed)) {
    set_default_action(kSigsys);
    // Delivered as soon as this handler returns.
    syscost_raw_syscall(SYS_tgkill, syscost_raw_syscall(SYS_getpid), syscost_raw_syscall(SYS_gettid), kSigsys);
    return;
  }
  const KernelSigaction action = believed;
  if ((action.flags & SA_RESETHAND) != 0) believed.handler = SIG_DFL;
  enter_handler(guard, frame, kSigsys, action, thread);
}

/// The program returns from a handler. Done here instead of in the stub, which would need the program's stack.
void return_from_handler(const Guard& guard, SignalFrame& frame, Thread* thread) {
  const std::uint64_t users = frame.registers[REG_RSP] - 8;
  if (thread != nullptr) {
    Call call{};
    call.number = SYS_rt_sigreturn;
    call.thread = thread;
    call.control = thread->lane->control;
    record_return(guard, call, frame.registers[REG_RSP]);
    prepare_sigreturn(guard, *reinterpret_cast<SignalFrame*>(users), *thread);
  }
  frame.registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_sigreturn);
}

void handle_sigsys(int /*signal*/, siginfo_t* info, void* context) {
  const Guard guard = EntryPoint::enter();
  SignalFrame& frame = frame_of(context);
  std::uint64_t* registers = frame.registers;
  const auto return_address = reinterpret_cast<std::uint64_t>(info->si_call_addr);
  // The kernel names the place where it stopped the thread. A signal that only says so is the program's.
  if (info->si_code != kUserDispatch || return_address != registers[REG_RIP]) {
    deliver_to_program(guard, frame, *info);
    return;
  }
  std::atomic_ref(syscost_state.trapped).fetch_add(1, std::memory_order_relaxed);
  const void* base = gs_base();
  // A thread that is dispatched was armed, and had a base of ours.
  if (calling_thread(guard) == nullptr && base != &syscost_foreign_thread && base != &syscost_child_thread) {
    stand_aside(guard, StoodAside::own_gs);
  }
  Thread* thread = interrupted_thread(guard, frame);
  if (info->si_arch == kArchI386) {
    // Every register is an argument: the way back lies on the stack, below the red zone.
    registers[REG_RSP] -= 136;
    write_at(registers[REG_RSP], return_address);
    registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_stub_int80);
    return;
  }
  if (static_cast<std::uint32_t>(registers[REG_RAX]) == SYS_rt_sigreturn) {
    return_from_handler(guard, frame, thread);
    return;
  }
  remember_site(return_address);
  registers[REG_RCX] = return_address;
  registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_stub);
}

/// Every handler of the program, as the kernel knows it.
void handle_for_program(int signal, siginfo_t* /*info*/, void* context) {
  const Guard guard = EntryPoint::enter();
  SignalFrame& frame = frame_of(context);
  Thread* thread = interrupted_thread(guard, frame);
  if (signal == kCancelSignal) show_call_site(frame);
  enter_handler(guard, frame, signal, signal_beliefs.actions[signal], thread);
}

using PlainHandler = void (*)(int);

template <class Handler>
PlainHandler plain(Handler* handler) {
  return reinterpret_cast<PlainHandler>(reinterpret_cast<void*>(handler));
}

/// Takes one action over, if it is a handler.
void enter_by_us(int signal, const KernelSigaction& action) {
  if (!is_handler(action) || is_ours(action)) return;
  signal_beliefs.actions[signal] = action;
  const KernelSigaction ours = entering_action(action);
  if (set_action(signal, &ours, nullptr) == 0) {
    std::atomic_ref(signal_beliefs.entered_by_us).fetch_or(1ULL << (signal - 1));
  }
}

}  // namespace

KernelSigaction entering_action(const KernelSigaction& action) {
  // All signals wait while ours runs; the program's mask is set when its handler is entered.
  return {plain(handle_for_program), action.flags | SA_ONSTACK | kRestorer, syscost_restorer, ~std::uint64_t{0}};
}

bool is_handler(const KernelSigaction& action) {
  return action.handler != SIG_DFL && action.handler != SIG_IGN;
}

bool is_ours(const KernelSigaction& kernels) {
  return (kernels.flags & kRestorer) != 0 && kernels.restorer == syscost_restorer;
}

KernelSigaction shown_action(const KernelSigaction& kernels, const KernelSigaction& believed) {
  KernelSigaction shown = believed;
  if (!is_handler(kernels)) shown.handler = kernels.handler;
  constexpr std::uint64_t kChanged = SA_ONSTACK | kRestorer;
  shown.flags = (kernels.flags & ~kChanged) | (believed.flags & kChanged);
  shown.mask &= ~kNeverBlocked;
  return shown;
}

void set_default_action(int signal) {
  const KernelSigaction plain_action{};
  set_action(signal, &plain_action, nullptr);
}

long take_signals_over(const Guard& /*guard*/, Thread& thread) {
  // The program's other signals wait while our handler runs: theirs must not run with SIGSYS blocked.
  const KernelSigaction ours = {plain(handle_sigsys), SA_SIGINFO | SA_ONSTACK | kRestorer, syscost_restorer,
                                ~std::uint64_t{0}};
  KernelSigaction before{};
  const long error = set_action(kSigsys, &ours, &before);
  if (error < 0) return error;
  if (before.handler != ours.handler) signal_beliefs.actions[kSigsys] = before;
  for (int signal = 1; signal < kSignals; ++signal) {
    KernelSigaction action{};
    if (signal != kSigsys && set_action(signal, nullptr, &action) == 0) enter_by_us(signal, action);
  }
  std::uint64_t unblocked = kSigsysBit;
  std::uint64_t mask = 0;
  syscost_raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&unblocked),
                      reinterpret_cast<long>(&mask), sizeof mask);
  if ((mask & kSigsysBit) != 0) thread.blocks_sigsys = 1;
  return 0;
}

void give_signals_back(const Guard& /*guard*/) {
  set_action(kSigsys, &signal_beliefs.actions[kSigsys], nullptr);
  for (std::uint64_t left = signal_beliefs.entered_by_us; left != 0; left &= left - 1) {
    const int signal = __builtin_ctzll(left) + 1;
    KernelSigaction kernels{};
    if (set_action(signal, nullptr, &kernels) < 0 || !is_ours(kernels)) continue;
    const KernelSigaction shown = shown_action(kernels, signal_beliefs.actions[signal]);
    set_action(signal, &shown, nullptr);
  }
}

void release_pending(Thread& thread) {
  if (thread.has_pending == 0 || thread.blocks_sigsys != 0) return;
  thread.has_pending = 0;
  syscost_raw_syscall(SYS_rt_tgsigqueueinfo, syscost_raw_syscall(SYS_getpid), syscost_raw_syscall(SYS_gettid), kSigsys,
                      reinterpret_cast<long>(&thread.pending));
}

}  // namespace syscost::signal_safe
