// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/cancel.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/frames.h"
#include "backends/dispatch/stub/record.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/trace/stub/trace.h"

namespace syscost::signal_safe {

SignalBeliefs signal_beliefs{};

namespace {

constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH of asm-generic/siginfo.h, missing in older headers
constexpr unsigned kArchI386 = 0x4000'0003;
constexpr unsigned kArchX86 = 0xc000'003e;
constexpr std::uint64_t kRestorer = 0x0400'0000;  // SA_RESTORER
constexpr std::uint64_t kNeverBlocked = 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1);

long set_action(int signal, const KernelSigaction* action, KernelSigaction* before) {
  return syscost_raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(action), reinterpret_cast<long>(before),
                             sizeof(std::uint64_t));
}

/// By a process, which may say so of itself, not by what the thread did.
bool was_sent(const SignalInfo& info) {
  return static_cast<std::int32_t>(info.code) <= 0 || info.code == kUserDispatch;
}

/// A SIGSYS that is not ours: as if it had been delivered to the program's own action.
void deliver_to_program(const Guard& guard, SignalFrame& frame, const SignalInfo& info, Thread* thread) {
  KernelSigaction& believed = signal_beliefs.actions[kSigsys];
  // The kernel ignores one that was sent, and kills where the thread itself caused it.
  if (believed.handler == SIG_IGN && was_sent(info)) return;
  if (!is_handler(believed)) {
    set_default_action(kSigsys);
    // Delivered as soon as this handler returns.
    syscost_raw_syscall(SYS_tgkill, syscost_raw_syscall(SYS_getpid), syscost_raw_syscall(SYS_gettid), kSigsys);
    return;
  }
  const KernelSigaction action = believed;
  if ((action.flags & SA_RESETHAND) != 0) believed.handler = SIG_DFL;
  if (&info != &frame.info) copy(frame.info, info);
  enter_handler(guard, frame, kSigsys, action, thread);
}

/// A signal that waits for the thread and is not blocked comes before the thread goes on.
void deliver_waiting(const Guard& guard, SignalFrame& frame, Thread& thread) {
  SignalInfo info;
  if (thread.blocks_sigsys != 0 || !take_sigsys(thread, info)) return;
  announce_waiting(thread);
  deliver_to_program(guard, frame, info, &thread);
}

/// The program returns from a handler. Done here instead of in the stub, which would need the program's stack.
void return_from_handler(const Guard& guard, SignalFrame& frame, Thread* thread) {
  const std::uint64_t users = frame.registers[REG_RSP] - 8;
  if (thread != nullptr) {
    Call call;
    clear(call);
    call.number = SYS_rt_sigreturn;
    call.return_address = frame.registers[REG_RIP];
    call.stack_pointer = frame.registers[REG_RSP];
    call.frame_pointer = frame.registers[REG_RBP];
    call.thread = thread;
    call.control = thread->lane->control;
    record_return(guard, call, frame.registers[REG_RSP]);
    prepare_sigreturn(guard, *reinterpret_cast<SignalFrame*>(users), *thread);
    // Pending signals come after the return, not on top of it: many would fill the stack.
    frame.mask = ~std::uint64_t{0};
  }
  frame.registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_sigreturn);
}

/// The thread ends, by a call that needs no stack: the program may have unmapped its own. From here on no record counts
/// the handlers that interrupt it, and they run on no stack that another thread may take.
void end_thread(const Guard& /*guard*/, SignalFrame& frame, Thread& thread) {
  if (thread.signal_stack.bytes != 0) frame.stack = thread.own_stack;
  if (thread.blocks_sigsys != 0) frame.mask |= kSigsysBit;
  set_gs_base(&syscost_foreign_thread);
  std::atomic_ref(thread.id).store(0);
  offer_sigsys();  // it may have been sent a notice
  note_end(thread);
  frame.registers[REG_R11] = reinterpret_cast<std::uint64_t>(&thread.is_used);
  frame.registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_end_thread);
}

/// Lets the thread go on in the stub.
void make_call(const Guard& guard, SignalFrame& frame, Thread* thread, unsigned architecture) {
  std::uint64_t* registers = frame.registers;
  const std::uint64_t return_address = registers[REG_RIP];
  std::atomic_ref(syscost_state.trapped).fetch_add(1, std::memory_order_relaxed);
  if (thread != nullptr) thread->trapped_in = syscost_state.pauses + 1;
  if (architecture == kArchI386) {
    note_unusual_call(1, registers[REG_RAX]);
    // Every register is an argument: the way back lies on the stack, below the red zone.
    registers[REG_RSP] -= 136;
    write_at(registers[REG_RSP], return_address);
    registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_stub_int80);
  } else if (static_cast<std::uint32_t>(registers[REG_RAX]) == SYS_rt_sigreturn) {
    return_from_handler(guard, frame, thread);
    if (thread != nullptr) announce_waiting(*thread);  // it comes after the return
    return;
  } else {
    const bool is_known = thread != nullptr && thread == calling_thread(guard);
    const bool is_of_child = is_known && thread->waits_for_child != 0;
    if (is_known && !is_of_child && static_cast<std::uint32_t>(registers[REG_RAX]) == SYS_exit) {
      end_thread(guard, frame, *thread);
      return;
    }
    if (!is_known || !enter_on_trap_stack(guard, frame, *thread, return_address)) {
      registers[REG_RCX] = return_address;
      registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_stub);
    }
  }
  if (thread != nullptr) deliver_waiting(guard, frame, *thread);
}

void handle_sigsys(int /*signal*/, siginfo_t* info, void* context) {
  const Guard guard = EntryPoint::enter();
  SignalFrame& frame = frame_of(context);
  const auto return_address = reinterpret_cast<std::uint64_t>(info->si_call_addr);
  // The kernel names the place where it stopped the thread. A signal that only says so is the program's.
  const bool is_call = info->si_code == kUserDispatch && return_address == frame.registers[REG_RIP];
  const void* base = gs_base();
  // A thread that is dispatched was armed, and had a base of ours.
  if (is_call && calling_thread(guard) == nullptr && base != &syscost_foreign_thread && base != &syscost_child_thread) {
    stand_aside(guard, StoodAside::own_gs);
  }
  Thread* thread = interrupted_thread(guard, frame);
  if (is_call) {
    make_call(guard, frame, thread, info->si_arch);
    return;
  }
  const SignalInfo& other = frame.info;
  // Since we stood aside, what the kernel blocks counts, also in a child that no stub saw.
  if (syscost_state.stood_aside != StoodAside::no) {
    if (!is_notice(other, syscost_foreign_thread)) deliver_to_program(guard, frame, other, nullptr);
    return;
  }
  if (thread == nullptr && was_sent(other) && is_being_born(guard)) {
    // Its mask is not the kernel's, and the program does not know it yet.
    if (!is_notice(other, syscost_foreign_thread)) keep_sigsys(other, nullptr);
    offer_sigsys();
    return;
  }
  if (thread == nullptr || !was_sent(other)) {
    // On a thread that is not watched the kernel has the program's mask.
    if (thread != nullptr || !is_notice(other, syscost_foreign_thread)) deliver_to_program(guard, frame, other, thread);
    return;
  }
  if (!is_notice(other, *thread)) keep_sigsys(other, thread);
  if (is_undone_call(guard, frame, *thread)) {
    make_call(guard, frame, thread, kArchX86);
  } else {
    deliver_waiting(guard, frame, *thread);
  }
  if (thread->blocks_sigsys != 0) offer_sigsys();
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

KernelSigaction own_action(const KernelSigaction& believed) {
  // The program's other signals wait while our handler runs: theirs must not run with SIGSYS blocked. A call that a
  // SIGSYS interrupts which the program blocks or ignores goes on.
  const std::uint64_t restarts = is_handler(believed) ? believed.flags & SA_RESTART : SA_RESTART;
  return {plain(handle_sigsys), SA_SIGINFO | SA_ONSTACK | kRestorer | restarts, syscost_restorer, ~std::uint64_t{0}};
}

long take_signals_over(const Guard& /*guard*/, Thread& thread) {
  KernelSigaction before{};
  if (const long error = set_action(kSigsys, nullptr, &before); error < 0) return error;
  KernelSigaction& believed = signal_beliefs.actions[kSigsys];
  if (before.handler != plain(handle_sigsys)) believed = before;
  const KernelSigaction ours = own_action(believed);
  if (const long error = set_action(kSigsys, &ours, nullptr); error < 0) return error;
  syscost_state.has_signals = true;
  for (int signal = 1; signal < kSignals; ++signal) {
    KernelSigaction action{};
    if (signal != kSigsys && set_action(signal, nullptr, &action) == 0) enter_by_us(signal, action);
  }
  syscost_state.process = static_cast<std::int32_t>(syscost_raw_syscall(SYS_getpid));
  std::uint64_t mask = 0;
  syscost_raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), sizeof mask);
  thread.blocks_sigsys = (mask & kSigsysBit) != 0 ? 1 : 0;
  return 0;
}

bool has_cleared_handlers(const Guard& /*guard*/, bool has_own_memory) {
  KernelSigaction kernels{};
  // A program that we left alone may have an action of its own.
  if (!syscost_state.has_signals || syscost_state.stood_aside != StoodAside::no) return false;
  if (set_action(kSigsys, nullptr, &kernels) < 0) return false;
  if (kernels.handler == plain(handle_sigsys)) return false;
  if (has_own_memory) {
    signal_beliefs.entered_by_us = 0;
    KernelSigaction& believed = signal_beliefs.actions[kSigsys];
    believed = KernelSigaction{is_handler(believed) ? nullptr : believed.handler, 0, nullptr, 0};
  }
  return true;
}

void take_sigsys_again(const Guard& /*guard*/) {
  const KernelSigaction ours = own_action(signal_beliefs.actions[kSigsys]);
  set_action(kSigsys, &ours, nullptr);
}

bool is_sigsys_ignored() {
  constexpr std::uint64_t kIgnore = 1;  // SIG_IGN
  return reinterpret_cast<std::uint64_t>(signal_beliefs.actions[kSigsys].handler) == kIgnore;
}

void set_sigsys_ignored() {
  set_action(kSigsys, &signal_beliefs.actions[kSigsys], nullptr);
}

void give_signals_back(const Guard& guard, bool with_handlers) {
  syscost_state.has_signals = false;
  set_action(kSigsys, &signal_beliefs.actions[kSigsys], nullptr);
  if (with_handlers) give_handlers_back(guard);
}

void give_handlers_back(const Guard& /*guard*/) {
  syscost_state.has_signals = false;
  for (std::uint64_t left = signal_beliefs.entered_by_us; left != 0; left &= left - 1) {
    const int signal = __builtin_ctzll(left) + 1;
    KernelSigaction kernels{};
    if (set_action(signal, nullptr, &kernels) < 0 || !is_ours(kernels)) continue;
    const KernelSigaction shown = shown_action(kernels, signal_beliefs.actions[signal]);
    set_action(signal, &shown, nullptr);
  }
}

namespace {

enum PlaceState : std::uint32_t { kEmpty, kInUse, kFull };

/// si_code of a notice. Negative: another may not be sent to other threads.
constexpr auto kNotice = static_cast<std::uint32_t>(-0x5343);

bool is_full(const PendingSignal& place) {
  return std::atomic_ref(const_cast<std::uint32_t&>(place.state)).load() == kFull;
}

bool put(PendingSignal& place, const SignalInfo& info) {
  std::atomic_ref state(place.state);
  std::uint32_t expected = kEmpty;
  if (!state.compare_exchange_strong(expected, kInUse)) return false;
  copy_bytes(reinterpret_cast<std::uint64_t>(place.info), reinterpret_cast<std::uint64_t>(&info), sizeof place.info);
  state.store(kFull);
  return true;
}

bool take(PendingSignal& place, SignalInfo& into) {
  std::atomic_ref state(place.state);
  std::uint32_t expected = kFull;
  if (state.load() != kFull || !state.compare_exchange_strong(expected, kInUse)) return false;
  into = {};
  copy_bytes(reinterpret_cast<std::uint64_t>(&into), reinterpret_cast<std::uint64_t>(place.info), sizeof place.info);
  state.store(kEmpty);
  return true;
}

/// Sends `info` to one thread of this process. Returns 0 or -errno.
long send(std::uint32_t thread, const SignalInfo& info) {
  return syscost_raw_syscall(SYS_rt_tgsigqueueinfo, syscost_state.process, thread, kSigsys,
                             reinterpret_cast<long>(&info));
}

bool notify(const Thread& thread) {
  SignalInfo notice{};
  notice.signal = kSigsys;
  notice.code = kNotice;
  // Not in the first word, in which the kernel may translate a user's number.
  notice.rest[1] = reinterpret_cast<std::uint64_t>(&syscost_state);
  return thread.id != 0 && send(thread.id, notice) == 0;
}

bool takes_sigsys(Thread& thread) {
  return std::atomic_ref(thread.blocks_sigsys).load() == 0 || std::atomic_ref(thread.awaits_sigsys).load() != 0;
}

Thread* thread_of(std::uint64_t id) {
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    Thread& thread = syscost_threads[i];
    if (id != 0 && std::atomic_ref(thread.id).load() == id) return &thread;
  }
  return nullptr;
}

}  // namespace

// ---- what waits -----------------------------------------------------------------------------------------------------

void keep_sigsys(const SignalInfo& info, Thread* thread) {
  const bool is_for_thread = thread != nullptr && static_cast<std::int32_t>(info.code) == SI_TKILL;
  put(is_for_thread ? thread->pending : syscost_state.pending, info);
}

bool is_notice(const SignalInfo& info, const Thread& thread) {
  // Where no more signals may be queued (RLIMIT_SIGPENDING) the kernel drops what a signal carries.
  const bool is_bare = info.code == SI_USER && info.rest[0] == 0;
  const bool is_marked = info.code == kNotice && info.rest[1] == reinterpret_cast<std::uint64_t>(&syscost_state);
  return is_marked || (is_bare && has_waiting(thread));
}

bool has_waiting(const Thread& thread) {
  return is_full(thread.pending) || is_full(syscost_state.pending);
}

bool take_sigsys(Thread& thread, SignalInfo& into) {
  if (!has_waiting(thread)) return false;
  // A handler of the program that never returns would leave a place half written.
  const SignalsHeld held;
  return take(thread.pending, into) || take(syscost_state.pending, into);
}

void announce_waiting(Thread& thread) {
  if (takes_sigsys(thread) && has_waiting(thread)) notify(thread);
}

void offer_sigsys() {
  if (!is_full(syscost_state.pending)) return;
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    if (takes_sigsys(syscost_threads[i]) && notify(syscost_threads[i])) return;
  }
}

void believe_blocked(Thread& thread, bool is_blocked) {
  if ((thread.blocks_sigsys != 0) == is_blocked) return;
  std::atomic_ref(thread.blocks_sigsys).store(is_blocked ? 1 : 0);
  announce_waiting(thread);
}

void await_sigsys(Thread& thread, bool awaits) {
  std::atomic_ref(thread.awaits_sigsys).store(awaits ? 1 : 0);
  announce_waiting(thread);
}

void let_sigsys_through(Thread& thread) {
  set_blocked_in_kernel(false);
  announce_waiting(thread);
}

void set_blocked_in_kernel(bool is_blocked) {
  const std::uint64_t sigsys = kSigsysBit;
  syscost_raw_syscall(SYS_rt_sigprocmask, is_blocked ? SIG_BLOCK : SIG_UNBLOCK, reinterpret_cast<long>(&sigsys), 0,
                      sizeof sigsys);
}

// ---- what the program sends -----------------------------------------------------------------------------------------

namespace {

/// The arguments of the three calls.
struct Sent {
  std::uint64_t thread = 0;
  std::uint64_t* signal = nullptr;
  std::uint64_t info = 0;  ///< Its address; 0 = as from the kernel.
};

Sent sent_by(std::uint64_t number, Arguments& arguments) {
  if (number == SYS_tkill) return {arguments.rdi, &arguments.rsi, 0};
  if (arguments.rdi != static_cast<std::uint64_t>(syscost_state.process)) return {};
  return {arguments.rsi, &arguments.rdx, number == SYS_tgkill ? 0 : arguments.r10};
}

constexpr std::uint64_t kInfoBytes = sizeof PendingSignal::info;

}  // namespace

void prepare_send(Call& call) {
  const Sent sent = sent_by(call.number, call.used);
  if (sent.signal == nullptr || *sent.signal != kSigsys || thread_of(sent.thread) == nullptr) return;
  std::uint64_t info[kInfoBytes / sizeof(std::uint64_t)];
  if (sent.info != 0 && !read_user(sent.info, info)) return;
  // First see if there is such a thread; then do the rest.
  *sent.signal = 0;
  call.note = 1;
}

void finish_send(Call& call) {
  if (call.note == 0 || call.result != 0) return;
  const Sent sent = sent_by(call.number, call.given);
  Thread* target = thread_of(sent.thread);
  if (target == nullptr) return;
  SignalInfo info{};
  // Sent is what the kernel has looked at, as far as it can still be read.
  if (sent.info != 0 && copy_in(&info, sent.info, kInfoBytes)) {
    info.signal = kSigsys;
  } else {
    info.code = static_cast<std::uint32_t>(SI_TKILL);
    info.rest[0] = static_cast<std::uint64_t>(syscost_state.process) |
                   static_cast<std::uint64_t>(syscost_raw_syscall(SYS_getuid)) << 32;
  }
  info.signal = kSigsys;
  {
    const SignalsHeld held;
    put(target->pending, info);
  }
  if (takes_sigsys(*target)) notify(*target);
}

void leave_sigsys_to_kernel(Thread& thread, bool with_process) {
  if (thread.blocks_sigsys == 0) return;
  set_blocked_in_kernel(true);
  const auto self = static_cast<std::uint32_t>(syscost_raw_syscall(SYS_gettid));
  const SignalsHeld held;
  SignalInfo info;
  if (take(thread.pending, info)) send(self, info);
  if (with_process && take(syscost_state.pending, info)) send(self, info);
}

// ---- a call that was undone -----------------------------------------------------------------------------------------

bool is_undone_call(const Guard& guard, const SignalFrame& frame, const Thread& thread) {
  if (calling_thread(guard) != &thread || std::atomic_ref(syscost_selector).load() == 0) return false;
  // Since the last time without dispatch this thread has trapped no call yet: the call may have been made, not undone.
  if (thread.trapped_in != syscost_state.pauses + 1) return false;
  const std::uint64_t at = frame.registers[REG_RIP];
  const bool is_ours = at >= reinterpret_cast<std::uint64_t>(syscost_undispatched_begin) &&
                       at <= reinterpret_cast<std::uint64_t>(syscost_undispatched_end);
  // The instruction itself leaves these two, and the stub never does: r11 is no copy of flags on its ways back.
  if (is_ours || frame.registers[REG_RCX] != at || frame.registers[REG_R11] != frame.registers[REG_EFL]) return false;
  constexpr std::uint16_t kSyscall = 0x050f;
  std::uint16_t instruction = 0;
  return read_user(at - sizeof kSyscall, instruction) && instruction == kSyscall;
}

}  // namespace syscost::signal_safe
