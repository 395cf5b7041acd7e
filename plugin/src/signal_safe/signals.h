// SPDX-License-Identifier: MIT
//
// SIGSYS, which is ours while we watch, and which the program may go on using.
#pragma once

#include <cstdint>

#include "signal_safe/call.h"

namespace syscost::signal_safe {

inline constexpr int kSigsys = 31;
inline constexpr std::uint64_t kSigsysBit = 1ULL << (kSigsys - 1);
inline constexpr int kSignals = 65;

/// What the program believes about its signals. The kernel never holds SIGSYS in a mask, because a call dispatched
/// while it is blocked ends the process.
struct SignalBeliefs {
  KernelSigaction sigsys;                ///< The program's own action.
  std::uint32_t masks_sigsys[kSignals];  ///< By signal: its action's mask holds SIGSYS.
};
extern SignalBeliefs signal_beliefs;

/// Takes SIGSYS over, and out of every mask of the process's actions. The caller's own mask too. Returns 0 or -errno.
/// Once more after a stretch in which the caller was not watched: what it did then is believed.
long take_sigsys_over(const Guard& guard, Thread& thread);
/// Gives SIGSYS back as the program believes it to be.
void give_sigsys_back(const Guard& guard);

}  // namespace syscost::signal_safe
