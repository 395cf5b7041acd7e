// SPDX-License-Identifier: MIT
//
// Delays: calls that wait in the supervisor because a rule says so, while it answers those of other threads.
#pragma once

#include <cstdint>

#include "backends/seccomp/fault_judge.h"
#include "backends/seccomp/ledger.h"

namespace syscost::seccomp {

/// Lets the call go on, or answers it, as `verdict` says.
void settle(int listener, std::uint64_t id, const Verdict& verdict);

/// In a serving process. What waits is in the ledger, so a new process goes on with it.
class Delays {
 public:
  Delays(Ledger& ledger, int listener) : ledger_(ledger), listener_(listener) {}

  /// Settles the call when its delay is over. Call it once after each wait_for_call() that returns true: then there is
  /// room.
  void add(std::uint64_t id, const Verdict& verdict);

  /// Settles what is due, and says whether a call can be received now. Without calls that wait it says so at once; with
  /// some, it waits for a call at most until the next one is due, or until a signal.
  bool wait_for_call();

 private:
  Ledger& ledger_;
  const int listener_;
  std::uint32_t waiting_ = kDelayedCalls;  // at most so many: an earlier process may have left some
};

}  // namespace syscost::seccomp
