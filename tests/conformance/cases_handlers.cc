// SPDX-License-Identifier: MIT
//
// How a handler is entered: with the mask, the siginfo and the registers that the kernel gives it, also many at once;
// and calls about signals that cannot be made.
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "case.h"
#include "raw.h"
#include "signals.h"

namespace conformance {
namespace {

std::vector<unsigned char> g_memory;

std::uint64_t mask_now() {
  std::uint64_t mask = 0;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  return mask;
}

constexpr std::uint64_t bit(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

void look_at_mask(int signal, siginfo_t* info, void* context) {
  g_handled = g_handled + 1;
  constexpr int kValue = 4711;
  note(info->si_signo == signal && info->si_code == SI_QUEUE && info->si_value.sival_int == kValue, "siginfo differs");
  std::uint64_t saved = 0;
  std::memcpy(&saved, &static_cast<ucontext_t*>(context)->uc_sigmask, sizeof saved);
  note(saved == bit(SIGTERM), "uc_sigmask is not the mask before");
  note(mask_now() == (bit(SIGTERM) | bit(SIGUSR1) | bit(SIGHUP) | bit(SIGSYS)), "the mask is not the handler's");
  std::uint32_t control = 0;
  asm volatile("stmxcsr %0" : "=m"(control));
  constexpr std::uint32_t kFresh = 0x1f80;
  note(control == kFresh, "the vector unit is not as a handler finds it");
}

void count_once(int /*signal*/) {
  g_handled = g_handled + 1;
  struct sigaction now = {};
  sigaction(SIGUSR2, nullptr, &now);
  note(now.sa_handler == SIG_DFL, "SA_RESETHAND did not reset the action");
}

void queue_to_self(int signal) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = 4711;
  raw(SYS_rt_tgsigqueueinfo, g_pid, g_pid, signal, &info);
}

void enter_handlers() {
  constexpr std::uint32_t kRoundsUp = 0x5f80;
  std::uint32_t control = 0;
  asm volatile("stmxcsr %0" : "=m"(control));
  asm volatile("ldmxcsr %0" : : "m"(kRoundsUp));
  queue_to_self(SIGUSR1);
  std::uint32_t after = 0;
  asm volatile("stmxcsr %0" : "=m"(after));
  note(after == kRoundsUp, "the handler's return did not restore the vector unit");
  asm volatile("ldmxcsr %0" : : "m"(control));
  note(mask_now() == bit(SIGTERM), "the handler's return did not restore the mask");
  send_to_self(SIGUSR2);
  constexpr int kRestorer = 0x0400'0000;  // SA_RESTORER: libc's
  struct sigaction now = {};
  sigaction(SIGUSR1, nullptr, &now);
  note(now.sa_sigaction == look_at_mask && (now.sa_flags & ~kRestorer) == SA_SIGINFO &&
           sigismember(&now.sa_mask, SIGHUP) == 1 && sigismember(&now.sa_mask, SIGSYS) == 1 &&
           sigismember(&now.sa_mask, SIGUSR2) == 0,
       "sigaction shows another action");
}

const Register kEntered(Case{
    .number = 17,
    .name = "handlers_entered",
    .summary = "A handler gets the mask, the siginfo and the vector registers that the kernel gives it; sigaction "
               "shows what was set.",
    .setup =
        [] {
          g_pid = getpid();
          struct sigaction action = {};
          action.sa_sigaction = look_at_mask;
          action.sa_flags = SA_SIGINFO;
          sigaddset(&action.sa_mask, SIGHUP);
          sigaddset(&action.sa_mask, SIGSYS);
          sigaction(SIGUSR1, &action, nullptr);
          handle(SIGUSR2, count_once, static_cast<int>(SA_RESETHAND));
          const std::uint64_t mask = bit(SIGTERM);
          raw(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
        },
    .windows = {{"",
                 [] {
                   enter_handlers();
                   require(g_wrong.empty(), g_wrong);
                   require(g_handled == 2, "not every handler ran");
                 },
                 {calls("rt_tgsigqueueinfo", 1), calls("rt_sigprocmask", 2), calls("tgkill", 1),
                  calls("rt_sigaction", 2), calls("rt_sigreturn", 2)}}},
});

const Register kAtOnce(Case{
    .number = 17,
    .name = "many_signals_at_once",
    .summary = "Ten pending signals that are unblocked together run ten handlers, each on top of the one before.",
    .setup =
        [] {
          g_pid = getpid();
          g_memory.resize(std::size_t{64} << 10);
          set_stack(g_memory.data(), g_memory.size());
          for (int i = 0; i < 10; ++i) handle(SIGRTMIN + i, count_only, i % 2 == 0 ? SA_ONSTACK : 0);
        },
    .windows = {{"",
                 [] {
                   const std::uint64_t all = ~std::uint64_t{0};
                   std::uint64_t before = 0;
                   raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
                   for (int i = 0; i < 10; ++i) send_to_self(SIGRTMIN + i);
                   require(g_handled == 0, "a blocked signal was delivered");
                   raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
                   require(g_handled == 10, "not every handler ran");
                 },
                 {calls("rt_sigprocmask", 2), calls("tgkill", 10), calls("rt_sigreturn", 10)}}},
});

// ---- addresses of nothing -------------------------------------------------------------------------------------------

void* g_nothing = nullptr;

const Register kUnmapped(Case{
    .number = 18,
    .name = "unmapped_addresses",
    .summary = "A mask, an action or a signal stack at an unmapped address is EFAULT.",
    .setup =
        [] {
          g_nothing = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          munmap(g_nothing, 8192);
        },
    .windows = {{"",
                 [] {
                   timespec no_time = {};
                   struct {
                     void* mask;
                     std::size_t size;
                   } pair = {g_nothing, 8};
                   auto faults = [](long result) { note(result == -EFAULT, "a call did not answer EFAULT"); };
                   faults(raw(SYS_rt_sigaction, SIGUSR1, g_nothing, nullptr, 8));
                   faults(raw(SYS_rt_sigaction, SIGUSR1, nullptr, g_nothing, 8));
                   faults(raw(SYS_rt_sigaction, SIGSYS, g_nothing, nullptr, 8));
                   faults(raw(SYS_rt_sigprocmask, SIG_BLOCK, g_nothing, nullptr, 8));
                   faults(raw(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, g_nothing, 8));
                   faults(raw(SYS_sigaltstack, g_nothing, nullptr));
                   faults(raw(SYS_sigaltstack, nullptr, g_nothing));
                   faults(raw(SYS_ppoll, nullptr, 0, &no_time, g_nothing, 8));
                   faults(raw(SYS_pselect6, 0, nullptr, nullptr, nullptr, &no_time, &pair));
                   faults(raw(SYS_pselect6, 0, nullptr, nullptr, nullptr, &no_time, g_nothing));
                   faults(raw(SYS_clone3, g_nothing, 88));
                   require(g_wrong.empty(), g_wrong);
                 },
                 {calls("rt_sigaction", 3).failing(EFAULT, 3), calls("rt_sigprocmask", 2).failing(EFAULT, 2),
                  calls("sigaltstack", 2).failing(EFAULT, 2), calls("ppoll", 1).failing(EFAULT, 1),
                  calls("pselect6", 2).failing(EFAULT, 2), calls("clone3", 1).failing(EFAULT, 1)}}},
    .needs_no_seccomp_filter = true,  // a container engine's answers clone3
});

}  // namespace
}  // namespace conformance
