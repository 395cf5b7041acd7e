// SPDX-License-Identifier: MIT
#include "signal_safe/signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>

#include "signal_safe/arming.h"
#include "signal_safe/raw.h"
#include "signal_safe/record.h"

namespace syscost::signal_safe {

SignalBeliefs signal_beliefs{};

namespace {

constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH of asm-generic/siginfo.h, missing in older headers
constexpr unsigned kArchI386 = 0x4000'0003;
constexpr std::uint64_t kRestorer = 0x0400'0000;  // SA_RESTORER

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
void deliver_to_program(int signal, siginfo_t* info, void* context) {
  const KernelSigaction action = signal_beliefs.sigsys;
  if (action.handler == SIG_IGN) {
    // The kernel ignores one that was sent, and kills where the thread itself caused it.
    if (info->si_code <= 0) return;
  }
  if (action.handler == SIG_DFL || action.handler == SIG_IGN) {
    KernelSigaction plain{};
    set_action(signal, &plain, nullptr);
    // Delivered as soon as this handler returns.
    syscost_raw_syscall(SYS_tgkill, syscost_raw_syscall(SYS_getpid), syscost_raw_syscall(SYS_gettid), signal);
    return;
  }
  if ((action.flags & SA_RESETHAND) != 0) signal_beliefs.sigsys.handler = SIG_DFL;
  // Its calls are dispatched like any other: SIGSYS must not stay blocked meanwhile. Of the other signals the
  // program's own choice stands.
  std::uint64_t mask = action.mask & ~kSigsysBit;
  const std::uint64_t* before = reinterpret_cast<const std::uint64_t*>(&static_cast<ucontext_t*>(context)->uc_sigmask);
  mask |= *before & ~kSigsysBit;
  syscost_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, sizeof mask);
  if ((action.flags & SA_SIGINFO) != 0) {
    reinterpret_cast<void (*)(int, siginfo_t*, void*)>(reinterpret_cast<void*>(action.handler))(signal, info, context);
  } else {
    action.handler(signal);
  }
  // The way back is ours, but the program's handler is what returns.
  const Guard guard = EntryPoint::enter();
  Call way_back{};
  way_back.number = SYS_rt_sigreturn;
  way_back.thread = calling_thread(guard);
  if (way_back.thread == nullptr) return;
  way_back.control = way_back.thread->lane->control;
  record(guard, way_back, 0, false);
}

void handle_sigsys(int signal, siginfo_t* info, void* context) {
  if (info->si_code != kUserDispatch) {
    deliver_to_program(signal, info, context);
    return;
  }
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const std::uint64_t return_address = reinterpret_cast<std::uint64_t>(info->si_call_addr);
  std::atomic_ref(syscost_state.trapped).fetch_add(1, std::memory_order_relaxed);
  if (info->si_arch == kArchI386) {
    // Every register is an argument: the way back lies on the stack, below the red zone.
    registers[REG_RSP] -= 136;
    *reinterpret_cast<std::uint64_t*>(registers[REG_RSP]) = return_address;
    registers[REG_RIP] = reinterpret_cast<greg_t>(syscost_stub_int80);
    return;
  }
  remember_site(return_address);
  registers[REG_RCX] = static_cast<greg_t>(return_address);
  registers[REG_RIP] = reinterpret_cast<greg_t>(syscost_stub);
}

}  // namespace

long take_sigsys_over(const Guard& /*guard*/, Thread& thread) {
  // The program's other signals wait while our handler runs: theirs must not run with SIGSYS blocked.
  KernelSigaction ours{};
  ours.handler = reinterpret_cast<void (*)(int)>(reinterpret_cast<void*>(handle_sigsys));
  ours.flags = SA_SIGINFO | SA_ONSTACK | kRestorer;
  ours.restorer = syscost_restorer;
  ours.mask = ~std::uint64_t{0};
  KernelSigaction before{};
  const long error = set_action(kSigsys, &ours, &before);
  if (error < 0) return error;
  if (before.handler != ours.handler) signal_beliefs.sigsys = before;
  for (int signal = 1; signal < kSignals; ++signal) {
    KernelSigaction action{};
    if (signal == kSigsys || set_action(signal, nullptr, &action) < 0 || (action.mask & kSigsysBit) == 0) continue;
    signal_beliefs.masks_sigsys[signal] = 1;
    action.mask &= ~kSigsysBit;
    set_action(signal, &action, nullptr);
  }
  std::uint64_t unblocked = kSigsysBit;
  std::uint64_t mask = 0;
  syscost_raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&unblocked),
                      reinterpret_cast<long>(&mask), sizeof mask);
  if ((mask & kSigsysBit) != 0) thread.blocks_sigsys = 1;
  return 0;
}

void give_sigsys_back(const Guard& /*guard*/) {
  set_action(kSigsys, &signal_beliefs.sigsys, nullptr);
  for (int signal = 1; signal < kSignals; ++signal) {
    KernelSigaction action{};
    if (signal_beliefs.masks_sigsys[signal] == 0 || set_action(signal, nullptr, &action) < 0) continue;
    action.mask |= kSigsysBit;
    set_action(signal, &action, nullptr);
    signal_beliefs.masks_sigsys[signal] = 0;
  }
}

}  // namespace syscost::signal_safe
