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

std::vector<unsigned char> g_memory;

/// No register keeps the paint, which a delivery would save on the painted stack.
void paint(std::size_t with) {
  unsigned char* at = g_memory.data();
  std::size_t left = g_memory.size();
  asm volatile("rep stosb" : "+D"(at), "+c"(left) : "a"(kPaints[with]) : "memory");
}

unsigned char* g_vector_state = nullptr;

/// With SA_SIGINFO or without: x86-64's kernel gives every handler three arguments.
void note_vector_state(int /*signal*/, siginfo_t* /*info*/, void* context) {
  g_vector_state = reinterpret_cast<unsigned char*>(static_cast<ucontext_t*>(context)->uc_mcontext.fpregs);
}

void handle_on_stack(int signal, int flags) {
  struct sigaction action = {};
  action.sa_sigaction = note_vector_state;
  action.sa_flags = SA_ONSTACK | flags;
  sigaction(signal, &action, nullptr);
}

/// A processor may leave alone what is reserved in the registers that it saves: QEMU's does, others write zeros. So a
/// piece of 64 bytes in which something was saved counts as a whole, the last one up to the stack's end. No processor
/// writes the gap before the kernel's own bytes, and nothing else may.
void count_whole_pieces(std::vector<bool>& is_touched) {
  constexpr std::size_t kPiece = 64;
  constexpr std::size_t kGap = 416;
  constexpr std::size_t kGapEnd = 464;
  if (g_vector_state == nullptr) return;
  const auto begin = static_cast<std::size_t>(g_vector_state - g_memory.data());
  for (std::size_t piece = begin; piece < is_touched.size(); piece += kPiece) {
    const std::size_t end = std::min(piece + kPiece, is_touched.size());
    const auto at = [&](std::size_t i) { return is_touched.begin() + static_cast<std::ptrdiff_t>(i); };
    if (std::find(at(piece), at(end), true) == at(end)) continue;
    for (std::size_t i = piece; i < end; ++i) {
      if (i < begin + kGap || i >= begin + kGapEnd) is_touched[i] = true;
    }
  }
}

/// The trace of a delivery on a painted signal stack of `bytes`. Two paints are used: a byte that equals one of them by
/// chance does not equal the other.
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
  count_whole_pieces(is_touched);
  const auto first = std::find(is_touched.begin(), is_touched.end(), true);
  return {static_cast<std::size_t>(std::count(is_touched.begin(), is_touched.end(), true)),
          static_cast<std::size_t>(is_touched.end() - first)};
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
    .summary = "A handler on its own signal stack leaves the same bytes there as without a backend.",
    .early =
        [] {
          g_pid = getpid();
          g_memory.resize(kLarge + 4096);
          handle_on_stack(SIGUSR1, 0);
          handle_on_stack(SIGUSR2, SA_SIGINFO);
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
bool runs_on(const void* start, std::size_t bytes) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto begin = reinterpret_cast<std::uintptr_t>(start);
  return here > begin && here <= begin + bytes;
}

unsigned char* stack_start() {
  return g_memory.data() + 4096;
}

void look_around(int /*signal*/, siginfo_t* info, void* context) {
  g_handled = g_handled + 1;
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
  g_handled = g_handled + 1;
  note(runs_on(stack_start(), kLarge), "the second handler does not run on the program's stack");
  siglongjmp(g_jump, 1);
}

void look_around_autodisarmed(int /*signal*/) {
  g_handled = g_handled + 1;
  note(runs_on(stack_start(), kLarge), "the handler does not run on the stack that is forgotten meanwhile");
  stack_t now = {};
  note(raw(SYS_sigaltstack, nullptr, &now) == 0 && now.ss_flags == SS_DISABLE, "the stack is not forgotten");
}

void be_elsewhere(int /*signal*/) {
  g_handled = g_handled + 1;
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
    .summary = "A program sees the signal stack that it set: in a handler, after a jump out of one, with "
               "SS_AUTODISARM, and after sigaltstack failed.",
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
    .summary = "A call on a stack of 1 KiB, too small for a signal's frame, does not touch the memory below.",
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

}  // namespace
}  // namespace conformance
