// SPDX-License-Identifier: MIT
//
// Signals while we watch. SIGSYS is ours then, and the program's handlers are entered by ours (frames.h); the program
// reads and uses its actions, and its own SIGSYS, as without us.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/frames.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {

inline constexpr int kSigsys = 31;
inline constexpr std::uint64_t kSigsysBit = 1ULL << (kSigsys - 1);
inline constexpr int kSignals = 65;

/// The actions that the program believes it has. The kernel never holds SIGSYS in a mask, because a call dispatched
/// while it is blocked ends the process.
struct SignalBeliefs {
  KernelSigaction actions[kSignals];  ///< SIGSYS's always; others' where `is_entered_by_us`.
  std::uint64_t entered_by_us;        ///< By signal - 1: the kernel has a handler of ours.
};
extern SignalBeliefs signal_beliefs;

/// The action that the kernel shall have where the program wants `action`, a handler of its own.
KernelSigaction entering_action(const KernelSigaction& action);
/// True for a handler of the program, not SIG_DFL or SIG_IGN.
bool is_handler(const KernelSigaction& action);
/// True for what entering_action() made, also after SA_RESETHAND.
bool is_ours(const KernelSigaction& kernels);
/// The action that the program is shown where the kernel says `kernels`, which is ours.
KernelSigaction shown_action(const KernelSigaction& kernels, const KernelSigaction& believed);
void set_default_action(int signal);

/// The action that the kernel shall have for SIGSYS where the program wants `believed`.
KernelSigaction own_action(const KernelSigaction& believed);
/// In a child process. Returns true if the kernel has reset its handlers, ours of SIGSYS too: clone3 did so, with
/// CLONE_CLEAR_SIGHAND (flush_signal_handlers() in the kernel's kernel/signal.c). posix_spawn of glibc 2.41
/// asks for it. With `has_own_memory` the beliefs are the child's own, and follow.
bool has_cleared_handlers(const Guard& guard, bool has_own_memory);
/// Sets our action of SIGSYS again after that.
void take_sigsys_again(const Guard& guard);
/// Takes SIGSYS and the program's handlers over, and believes the mask of the caller, in which SIGSYS is let through
/// when it has been armed. Returns 0 or -errno. Once more after a time in which the caller was not watched: the actions
/// that it set then are believed.
long take_signals_over(const Guard& guard, Thread& thread);
/// Gives all actions back as the program believes them to be, or that of SIGSYS only: while other threads are in
/// trapped calls their handlers must be entered by ours (arming.h). Changes no belief: a child may do so in our
/// memory.
void give_signals_back(const Guard& guard, bool with_handlers);
/// All actions but that of SIGSYS, for which the kernel may just have stopped another thread.
void give_handlers_back(const Guard& guard);

// The program's own SIGSYS signals, apart from those that are dispatched calls.
//
// While we watch a thread the kernel does not block SIGSYS in it. A SIGSYS that the program blocks waits here: one
// place for each thread, one for the process, as in the kernel. The process's SIGSYS goes to any thread that does not
// block it or awaits it. The thread that stores one looks for such a thread afterwards. A thread that unblocks or
// awaits SIGSYS first says so, and looks afterwards for a stored one. So one of the two sees the other.
//
// The kernel also keeps no more than one SIGSYS for a thread: if two come before either is handled, it drops the
// second. If it drops ours, the call was undone without a notice (is_undone_call). It cannot drop the program's, if a
// thread that we watch sent it: that one is stored in its place first, and the kernel carries only a notice.

inline void copy(SignalInfo& to, const SignalInfo& from) {
  copy_bytes(reinterpret_cast<std::uint64_t>(&to), reinterpret_cast<std::uint64_t>(&from), sizeof to);
}

/// Keeps what the kernel delivered to `thread`, for it or for the process; null for a thread without a record. If one
/// waits there already, this one is dropped, as by the kernel.
void keep_sigsys(const SignalInfo& info, Thread* thread);
/// True for a SIGSYS that only says that one waits here for `thread`.
bool is_notice(const SignalInfo& info, const Thread& thread);
/// Whether something waits that `thread` may take.
bool has_waiting(const Thread& thread);
/// Sends `thread` a notice if something waits that it does not block.
void announce_waiting(Thread& thread);
/// Takes what waits for `thread`; the caller looks whether it may. False if nothing does.
bool take_sigsys(Thread& thread, SignalInfo& into);
/// Lets another thread take what waits for the process, if there is one that does not block it.
void offer_sigsys();

/// The program believes that its mask has SIGSYS, or not. A thread that unblocks SIGSYS gets what waits, at once or,
/// while the kernel blocks it, as soon as it does not.
void believe_blocked(Thread& thread, bool is_blocked);
/// The thread awaits SIGSYS in the call that follows, which the kernel ends when one is there; or not any more.
void await_sigsys(Thread& thread, bool awaits);
/// The calling thread is armed: from now on SIGSYS gets through, and what waits for it comes if it may.
void let_sigsys_through(Thread& thread);
/// Sets whether the kernel blocks SIGSYS in the calling thread. While it is blocked nothing of the program may run.
void set_blocked_in_kernel(bool is_blocked);

/// The program believes that SIGSYS is ignored.
bool is_sigsys_ignored();
/// The kernel ignores it in the calling process.
void set_sigsys_ignored();

/// The program sends SIGSYS to a thread (tgkill, tkill, rt_tgsigqueueinfo): the kernel says whether it may; then it is
/// put to where that thread finds it.
void prepare_send(Call& call);
void finish_send(Call& call);

/// The mask of the calling thread, `thread`, and what waits for it, are the kernel's from now on; also what waits for
/// the process, with `with_process`.
void leave_sigsys_to_kernel(Thread& thread, bool with_process);

/// True if the kernel undid a call of `thread` and dropped the SIGSYS that says so.
bool is_undone_call(const Guard& guard, const SignalFrame& frame, const Thread& thread);

}  // namespace syscost::signal_safe
