// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/sigsys.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub/signals_held.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
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
