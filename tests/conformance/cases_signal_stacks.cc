// SPDX-License-Identifier: MIT
//
// Stacks: a handler runs where the program put it and takes as much as it takes without an instrument, and a call is
// made on however little stack there is.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "case.h"
#include "raw.h"
#include "signals.h"

namespace conformance {
namespace {

constexpr std::array<unsigned char, 2> kPaints = {0x55, 0xaa};

pid_t g_pid = 0;
int g_handled = 0;
std::vector<unsigned char> g_memory;

void send_to_self(int signal) {
  raw(SYS_tgkill, g_pid, g_pid, signal);
}

long set_stack(const void* start, std::size_t bytes, unsigned flags = 0) {
  stack_t stack = {};
  stack.ss_sp = const_cast<void*>(start);
  stack.ss_size = bytes;
  stack.ss_flags = static_cast<int>(flags);
  return raw(SYS_sigaltstack, &stack, nullptr);
}

/// No register keeps the paint, which a delivery would save on the painted stack.
void paint(std::size_t with) {
  unsigned char* at = g_memory.data();
  std::size_t left = g_memory.size();
  asm volatile("rep stosb" : "+D"(at), "+c"(left) : "a"(kPaints[with]) : "memory");
}

/// What a delivery leaves behind on a painted signal stack of `bytes`: a byte that has the paint's value by chance is
/// not written with the other paint's.
struct Trace {
  std::size_t touched = 0;
  std::size_t deepest = 0;  ///< From the stack's end.
};

Trace trace_of_delivery(std::size_t bytes, int signal) {
  std::vector<bool> is_touched(g_memory.size());
  for (std::size_t with = 0; with < kPaints.size(); ++with) {
    paint(with);
    set_stack(g_memory.data() + (g_memory.size() - bytes), bytes);
    send_to_self(signal);
    set_stack(nullptr, 0, SS_DISABLE);
    for (std::size_t i = 0; i < g_memory.size(); ++i) {
      if (g_memory[i] != kPaints[with]) is_touched[i] = true;
    }
  }
  const auto first = std::find(is_touched.begin(), is_touched.end(), true);
  return {static_cast<std::size_t>(std::count(is_touched.begin(), is_touched.end(), true)),
          static_cast<std::size_t>(is_touched.end() - first)};
}

void count_only(int /*signal*/) {
  ++g_handled;
}

constexpr std::size_t kSmall = 8096;
constexpr std::size_t kLarge = std::size_t{64} << 10;
std::array<Trace, 3> g_without;

void require_same(const Trace& with, const Trace& without, const std::string& what) {
  require(without.touched != 0, what + ": nothing was touched without an instrument");
  require(with.touched == without.touched && with.deepest == without.deepest,
          what + ": " + std::to_string(with.touched) + " bytes touched down to " + std::to_string(with.deepest) +
              ", without an instrument " + std::to_string(without.touched) + " down to " +
              std::to_string(without.deepest));
}

const Register kUse(Case{
    .number = 17,
    .name = "signal_stack_use",
    .summary = "A handler on its own signal stack leaves there what it leaves without an instrument, byte for byte.",
    .early =
        [] {
          g_pid = getpid();
          g_memory.resize(kLarge + 4096);
          handle(SIGUSR1, count_only, SA_ONSTACK);
          handle(SIGUSR2, count_only, SA_ONSTACK | SA_SIGINFO);
          g_without = {trace_of_delivery(kSmall, SIGUSR1), trace_of_delivery(kLarge, SIGUSR1),
                       trace_of_delivery(kLarge, SIGUSR2)};
        },
    .windows = {{"",
                 [] {
                   const std::array<Trace, 3> with = {trace_of_delivery(kSmall, SIGUSR1),
                                                      trace_of_delivery(kLarge, SIGUSR1),
                                                      trace_of_delivery(kLarge, SIGUSR2)};
                   require_same(with[0], g_without[0], "a small stack");
                   require_same(with[1], g_without[1], "a large stack");
                   require_same(with[2], g_without[2], "with siginfo");
                 },
                 {calls("sigaltstack", 12), calls("tgkill", 6), calls("rt_sigreturn", 6)}}},
});

// ---- what the program sees of its stacks ----------------------------------------------------------------------------

sigjmp_buf g_jump;
std::string g_wrong;

void note(bool is_right, const char* what) {
  if (!is_right && g_wrong.empty()) g_wrong = what;
}

bool runs_on(const void* start, std::size_t bytes) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto begin = reinterpret_cast<std::uintptr_t>(start);
  return here > begin && here <= begin + bytes;
}

unsigned char* stack_start() {
  return g_memory.data() + 4096;
}

void look_around(int /*signal*/, siginfo_t* info, void* context) {
  ++g_handled;
  note(runs_on(stack_start(), kLarge), "the handler does not run on the program's stack");
  note(runs_on(stack_start(), kLarge) && reinterpret_cast<unsigned char*>(info) > stack_start(),
       "siginfo lies elsewhere");
  const stack_t& saved = static_cast<ucontext_t*>(context)->uc_stack;
  note(saved.ss_sp == stack_start() && saved.ss_size == kLarge, "uc_stack is another");
  stack_t now = {};
  note(raw(SYS_sigaltstack, nullptr, &now) == 0 && now.ss_sp == stack_start() && now.ss_size == kLarge &&
           now.ss_flags == SS_ONSTACK,
       "sigaltstack shows another, or not that code runs on it");
  note(set_stack(nullptr, 0, SS_DISABLE) == -EPERM, "the stack in use could be changed");
}

void look_around_below(int /*signal*/) {
  ++g_handled;
  note(runs_on(stack_start(), kLarge), "the second handler does not run on the program's stack");
  siglongjmp(g_jump, 1);
}

void look_around_autodisarmed(int /*signal*/) {
  ++g_handled;
  note(runs_on(stack_start(), kLarge), "the handler does not run on the stack that is forgotten meanwhile");
  stack_t now = {};
  note(raw(SYS_sigaltstack, nullptr, &now) == 0 && now.ss_flags == SS_DISABLE, "the stack is not forgotten");
}

void be_elsewhere(int /*signal*/) {
  ++g_handled;
  note(!runs_on(stack_start(), kLarge), "a handler without SA_ONSTACK runs on the signal stack");
}

void look_at_stacks() {
  constexpr unsigned kAutodisarm = 1U << 31;
  stack_t now = {};
  note(raw(SYS_sigaltstack, nullptr, &now) == 0 && now.ss_flags == SS_DISABLE && now.ss_sp == nullptr,
       "a stack is there");
  note(set_stack(stack_start(), 1000) == -ENOMEM, "a stack that is too small is taken");
  note(set_stack(stack_start(), kLarge, 77) == -EINVAL, "flags of nothing are taken");
  note(raw(SYS_sigaltstack, std::uintptr_t{1} << 40, nullptr) == -EFAULT, "an address of nothing is taken");
  note(set_stack(stack_start(), kLarge) == 0, "the stack is not taken");
  send_to_self(SIGUSR1);
  send_to_self(SIGHUP);
  if (sigsetjmp(g_jump, 0) == 0) asm volatile("ud2");
  // Left by a jump, the stack is free again.
  note(raw(SYS_sigaltstack, nullptr, &now) == 0 && now.ss_flags == 0 && now.ss_sp == stack_start(), "still in use");
  note(set_stack(stack_start(), kLarge, kAutodisarm) == 0, "SS_AUTODISARM is not taken");
  send_to_self(SIGALRM);
  note(raw(SYS_sigaltstack, nullptr, &now) == 0 && static_cast<unsigned>(now.ss_flags) == kAutodisarm &&
           now.ss_sp == stack_start(),
       "the stack does not come back");
  note(set_stack(nullptr, 0, SS_DISABLE) == 0, "the stack cannot be given up");
}

const Register kShown(Case{
    .number = 17,
    .name = "signal_stack_shown",
    .summary = "What a program sees of its signal stack is what it set: in a handler, after a jump out of one, with "
               "SS_AUTODISARM, and where sigaltstack fails.",
    .setup =
        [] {
          g_pid = getpid();
          g_memory.resize(kLarge + 8192);
          struct sigaction action = {};
          action.sa_sigaction = look_around;
          action.sa_flags = SA_ONSTACK | SA_SIGINFO;
          sigaction(SIGUSR1, &action, nullptr);
          handle(SIGILL, look_around_below, SA_ONSTACK | SA_NODEFER);
          handle(SIGALRM, look_around_autodisarmed, SA_ONSTACK);
          handle(SIGHUP, be_elsewhere, 0);
        },
    .windows = {{"",
                 [] {
                   look_at_stacks();
                   require(g_wrong.empty(), g_wrong);
                   require(g_handled == 4, "not every handler ran");
                 },
                 {calls("sigaltstack", 12).failing(ENOMEM, 1).failing(EINVAL, 1).failing(EFAULT, 1).failing(EPERM, 1),
                  calls("tgkill", 3), calls("rt_sigreturn", 3)}}},
});

// ---- little stack ---------------------------------------------------------------------------------------------------

/// getppid on the stack that ends at `top`.
long call_on(void* top) {
  long result = SYS_getppid;
  asm volatile(
      "xchg %%rsp, %[top]\n\t"
      "syscall\n\t"
      "xchg %%rsp, %[top]"
      : "+a"(result), [top] "+r"(top)
      :
      : "rcx", "r11", "memory");
  return result;
}

const Register kLittle(Case{
    .number = 17,
    .name = "little_stack",
    .summary = "A call on a stack of 1 KiB, too little for a signal's frame, leaves the memory below alone.",
    .setup =
        [] {
          g_memory.resize(kLarge);
          paint(0);
        },
    .windows = {{"",
                 [] {
                   constexpr std::size_t kLittleBytes = 1024;
                   unsigned char* top = g_memory.data() + g_memory.size() - 64;
                   for (int i = 0; i < 5; ++i) call_on(top);
                   const auto touched = std::find_if(g_memory.begin(), g_memory.end(),
                                                     [](unsigned char one) { return one != kPaints[0]; });
                   const auto deepest = top - &*touched;
                   require(touched == g_memory.end() || deepest <= static_cast<std::ptrdiff_t>(kLittleBytes),
                           "the call wrote " + std::to_string(deepest) + " bytes below its stack pointer");
                 },
                 {calls("getppid", 5)}}},
});

// ---- how a handler is entered ---------------------------------------------------------------------------------------

std::uint64_t mask_now() {
  std::uint64_t mask = 0;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  return mask;
}

constexpr std::uint64_t bit(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

void look_at_mask(int signal, siginfo_t* info, void* context) {
  ++g_handled;
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
  ++g_handled;
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
    .summary =
        "A handler finds the mask, the siginfo and the vector unit that the kernel gives it; sigaction shows what "
        "was set.",
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

void count_and_hold(int /*signal*/) {
  ++g_handled;
}

const Register kAtOnce(Case{
    .number = 17,
    .name = "many_signals_at_once",
    .summary = "Ten pending signals that are unblocked together run ten handlers, each on top of the one before.",
    .setup =
        [] {
          g_pid = getpid();
          g_memory.resize(kLarge + 8192);
          set_stack(stack_start(), kLarge);
          for (int i = 0; i < 10; ++i) handle(SIGRTMIN + i, count_and_hold, i % 2 == 0 ? SA_ONSTACK : 0);
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
    .summary = "A mask, an action or a signal stack at an address where nothing is mapped is EFAULT.",
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
});

}  // namespace
}  // namespace conformance
