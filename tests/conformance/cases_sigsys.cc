// SPDX-License-Identifier: MIT
//
// Programs that use what a backend may need for itself: SIGSYS, signal stacks, the kernel's dispatch, code made at run
// time. A backend must not disturb them.
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "backends.h"
#include "case.h"
#include "raw.h"
#include "signals.h"

namespace conformance {
namespace {

void make_two_calls(int /*signal*/) {
  repeat_raw(2, 0, SYS_getppid);
  g_handled = g_handled + 1;
}

void make_three_calls_around_another(int /*signal*/) {
  raw(SYS_getppid);
  send_to_self(SIGUSR2);
  repeat_raw(2, 0, SYS_getppid);
  g_handled = g_handled + 1;
}

const Register kNested(Case{
    .number = 14,
    .name = "nested_handlers",
    .summary = "A handler interrupted by another one: the calls of both are counted.",
    .setup =
        [] {
          g_pid = getpid();
          handle(SIGUSR1, make_three_calls_around_another, 0);
          handle(SIGUSR2, make_two_calls, 0);
        },
    .windows = {{"",
                 [] {
                   send_to_self(SIGUSR1);
                   require(g_handled == 2, "not every handler ran");
                 },
                 {calls("tgkill", 2), calls("getppid", 5), calls("rt_sigreturn", 2)}}},
});

// ---- signal stacks ------------------------------------------------------------------------------------------------

constexpr unsigned long kFrameBytes = 51;  // AT_MINSIGSTKSZ
std::unique_ptr<char[]> g_stack;
stack_t g_small = {};

const Register kTinyStack(Case{
    .number = 17,
    .name = "tiny_signal_stack",
    .summary = "A handler on a signal stack that holds one frame and little more can make calls.",
    .setup =
        [] {
          g_pid = getpid();
          constexpr std::size_t kForHandler = 2048;
          const std::size_t bytes = getauxval(kFrameBytes) + kForHandler;
          g_stack = std::make_unique<char[]>(bytes);
          g_small.ss_sp = g_stack.get();
          g_small.ss_size = bytes;
          handle(SIGUSR2, make_two_calls, SA_ONSTACK);
        },
    .windows = {{"",
                 [] {
                   stack_t before = {};
                   require(raw(SYS_sigaltstack, &g_small, nullptr) == 0, "sigaltstack failed");
                   send_to_self(SIGUSR2);
                   require(raw(SYS_sigaltstack, nullptr, &before) == 0, "sigaltstack failed");
                   require(before.ss_sp == g_small.ss_sp && before.ss_size == g_small.ss_size,
                           "the signal stack is another than the program's");
                   require(g_handled == 1, "the handler did not run");
                 },
                 {calls("sigaltstack", 2), calls("tgkill", 1), calls("getppid", 2), calls("rt_sigreturn", 1)}}},
    .missing =
        [] {
          return getauxval(kFrameBytes) != 0 ? ""
                                             : "the kernel does not say how large a signal frame is (AT_MINSIGSTKSZ); "
                                               "run Linux >= 5.14";
        },
});

// ---- SIGSYS -------------------------------------------------------------------------------------------------------

constexpr std::size_t kMaskBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kSigsysBit = std::uint64_t{1} << (SIGSYS - 1);

const Register kBlocked(Case{
    .number = 18,
    .name = "sigsys_blocked",
    .summary = "A program that blocks every signal, in its mask or during a call, can make calls and sees its mask.",
    .windows = {{"",
                 [] {
                   std::uint64_t before = 0;
                   std::uint64_t blocked = 0;
                   timespec no_time = {};
                   raw(SYS_rt_sigprocmask, SIG_SETMASK, &kAll, &before, kMaskBytes);
                   repeat_raw(10, 0, SYS_getppid);
                   raw(SYS_ppoll, nullptr, 0, &no_time, &kAll, kMaskBytes);
                   raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, &blocked, kMaskBytes);
                   require((before & kSigsysBit) == 0 && (blocked & kSigsysBit) != 0,
                           "the mask is not what the program set");
                 },
                 {calls("rt_sigprocmask", 2), calls("getppid", 10), calls("ppoll", 1)}}},
});

const Register kOwnHandler(Case{
    .number = 19,
    .name = "own_sigsys_handler",
    .summary = "A program's own SIGSYS handler gets every SIGSYS that is not a dispatched call.",
    .setup = [] { g_pid = getpid(); },
    .windows = {{"",
                 [] {
                   handle(SIGSYS, make_two_calls, 0);
                   send_to_self(SIGSYS);
                   struct sigaction action = {};
                   sigaction(SIGSYS, nullptr, &action);
                   require(action.sa_handler == make_two_calls, "sigaction shows another handler");
                   require(g_handled == 1, "the handler did not run");
                 },
                 {calls("rt_sigaction", 2), calls("tgkill", 1), calls("getppid", 2), calls("rt_sigreturn", 1)}}},
});

constexpr std::uint64_t kSigsysAlone = kSigsysBit;

bool is_pending() {
  std::uint64_t pending = 0;
  return raw(SYS_rt_sigpending, &pending, kMaskBytes) == 0 && (pending & kSigsysBit) != 0;
}

const Register kPending(Case{
    .number = 18,
    .name = "sigsys_pending",
    .summary = "A SIGSYS that the program blocks is pending, can be waited for, and is delivered when it is unblocked.",
    .setup =
        [] {
          g_pid = getpid();
          // The default action ends the process.
          raw(SYS_rt_sigprocmask, SIG_SETMASK, &kAll, nullptr, kMaskBytes);
        },
    .windows = {{"",
                 [] {
                   send_to_self(SIGSYS);
                   require(is_pending(), "the signal is not pending");
                   siginfo_t info = {};
                   require(raw(SYS_rt_sigtimedwait, &kSigsysAlone, &info, nullptr, kMaskBytes) == SIGSYS &&
                               info.si_code == SI_TKILL && info.si_pid == g_pid,
                           "it cannot be waited for");
                   require(!is_pending(), "it is still pending");
                   handle(SIGSYS, count_only, 0);
                   send_to_self(SIGSYS);
                   require(g_handled == 0, "the handler ran although the signal is blocked");
                   raw(SYS_rt_sigprocmask, SIG_UNBLOCK, &kSigsysAlone, nullptr, kMaskBytes);
                   require(g_handled == 1, "the handler did not run");
                   raw(SYS_rt_sigprocmask, SIG_BLOCK, &kSigsysAlone, nullptr, kMaskBytes);
                   send_to_self(SIGSYS);
                   const std::uint64_t none = 0;
                   timespec a_while = {100, 0};
                   require(raw(SYS_ppoll, nullptr, 0, &a_while, &none, kMaskBytes) == -EINTR, "ppoll did not end");
                   require(g_handled == 2, "the handler did not run in ppoll");
                 },
                 {calls("tgkill", 3), calls("rt_sigpending", 2), calls("rt_sigtimedwait", 1), calls("rt_sigaction", 1),
                  calls("rt_sigprocmask", 2), calls("ppoll", 1).failing(EINTR, 1), calls("rt_sigreturn", 2)}}},
});

// ---- the program's own dispatch -----------------------------------------------------------------------------------

constexpr int kSetDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
volatile char g_selector = 0;

void answer_42(int /*signal*/, siginfo_t* /*info*/, void* context) {
  g_selector = 0;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = 42;
}

const Register kOwnDispatch(Case{
    .number = 21,
    .name = "own_dispatch",
    .summary = "A call that a program dispatches to itself is not a syscall; its other calls are.",
    .setup =
        [] {
          struct sigaction action = {};
          action.sa_sigaction = answer_42;
          action.sa_flags = SA_SIGINFO;
          sigaction(SIGSYS, &action, nullptr);
        },
    .windows = {{"",
                 [] {
                   require(raw(SYS_prctl, kSetDispatch, 1, 0, 0, &g_selector) == 0, "prctl failed");
                   g_selector = 1;
                   require(raw(SYS_getppid) == 42, "the program's handler did not answer");
                   require(raw(SYS_prctl, kSetDispatch, 0, 0, 0, 0) == 0, "prctl failed");
                   repeat_raw(5, 0, SYS_getppid);
                 },
                 {calls("prctl", 2), calls("getppid", 5), calls("rt_sigreturn", 1)}}},
    .missing = syscall_user_dispatch_missing,
    .unsupported =
        and_dispatch("the kernel allows one user of dispatch at a time: the backend stops counting and says so"),
});

// ---- code made at run time ----------------------------------------------------------------------------------------

long (*g_made)() = nullptr;

const Register kJit(Case{
    .number = 44,
    .name = "jit_page",
    .summary = "Calls from code that was written at run time are counted, also after it was rewritten.",
    .setup =
        [] {
          constexpr unsigned char kGetppid[] = {0xb8, SYS_getppid, 0, 0, 0, 0x0f, 0x05, 0xc3};
          void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          std::memcpy(page, kGetppid, sizeof kGetppid);
          g_made = reinterpret_cast<long (*)()>(page);
        },
    .windows = {{"",
                 [] {
                   for (int i = 0; i < 100; ++i) g_made();
                   // getuid
                   reinterpret_cast<unsigned char*>(reinterpret_cast<void*>(g_made))[1] = SYS_geteuid;
                   for (int i = 0; i < 50; ++i) g_made();
                 },
                 {calls("getppid", 100), calls("geteuid", 50)}}},
});

}  // namespace
}  // namespace conformance
