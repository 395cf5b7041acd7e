// SPDX-License-Identifier: MIT
//
// The actions of signals: SIGSYS, which is ours while we watch and which the program may go on using, and the program's
// handlers, which ours enter (frames.h).
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

inline constexpr int kSigsys = 31;
inline constexpr std::uint64_t kSigsysBit = 1ULL << (kSigsys - 1);
inline constexpr int kSignals = 65;

/// What the program believes of its actions. The kernel never holds SIGSYS in a mask, because a call dispatched while
/// it is blocked ends the process.
struct SignalBeliefs {
  KernelSigaction actions[kSignals];  ///< Of SIGSYS always; of others where `is_entered_by_us`.
  std::uint64_t entered_by_us;        ///< By signal - 1: the kernel has a handler of ours.
};
extern SignalBeliefs signal_beliefs;

/// What the kernel shall have where the program wants `action`, a handler of its own.
KernelSigaction entering_action(const KernelSigaction& action);
/// True for a handler of the program, not SIG_DFL or SIG_IGN.
bool is_handler(const KernelSigaction& action);
/// True for what entering_action() made, also after SA_RESETHAND.
bool is_ours(const KernelSigaction& kernels);
/// What the program is shown where the kernel says `kernels`, which is ours.
KernelSigaction shown_action(const KernelSigaction& kernels, const KernelSigaction& believed);
void set_default_action(int signal);

/// What the kernel shall have for SIGSYS where the program wants `believed`.
KernelSigaction own_action(const KernelSigaction& believed);
/// In a child process. Returns true if the kernel has reset its handlers, ours of SIGSYS too: clone3 did so, with
/// CLONE_CLEAR_SIGHAND (flush_signal_handlers() in the kernel's kernel/signal.c). posix_spawn of glibc 2.41
/// asks for it. With `has_own_memory` the beliefs are the child's own, and follow.
bool has_cleared_handlers(const Guard& guard, bool has_own_memory);
/// Sets our action of SIGSYS again after that.
void take_sigsys_again(const Guard& guard);
/// Takes SIGSYS and the program's handlers over, and believes the mask of the caller, in which SIGSYS is let through
/// when it has been armed. Returns 0 or -errno. Once more after a stretch in which the caller was not watched: what it
/// did then is believed.
long take_signals_over(const Guard& guard, Thread& thread);
/// Gives all actions back as the program believes them to be, or that of SIGSYS only: while other threads are in
/// trapped calls their handlers must be entered by ours (trap_stacks.h). Changes no belief: a child may do so in our
/// memory.
void give_signals_back(const Guard& guard, bool with_handlers);
/// All actions but that of SIGSYS, for which the kernel may just have stopped another thread.
void give_handlers_back(const Guard& guard);

}  // namespace syscost::signal_safe
