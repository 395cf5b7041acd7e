// SPDX-License-Identifier: MIT
//
// The supervisor's side of the rules by which calls fail or wait (fault_book.h): FaultJudge asks the rules about a
// call, and Delays lets calls wait. Both run in the supervisor, so they neither allocate nor lock.
//
// The rules lie in memory of the measured process, which may have fewer rights than the supervisor by now. So each word
// of it is read once, and checked before it is an index.
#pragma once

#include <cstdint>

#include "backends/seccomp/listener.h"
#include "backends/seccomp/program_identity.h"
#include "backends/seccomp/shared.h"
#include "backends/seccomp/supervisor.h"

namespace syscost::seccomp {

/// The rules' decision about a call.
struct Verdict {
  bool is_answered = false;  ///< It is not made, and returns `result`: a value, or -errno.
  std::int64_t result = 0;
  std::uint64_t delay_ns = 0;  ///< Before it goes on or is answered.
};

class FaultJudge {
 public:
  /// `shared` and `ledger` must outlive it. `measured`: a pidfd of the measured process; negative = none can be had.
  FaultJudge(Shared& shared, Ledger& ledger, int measured)
      : shared_(shared), ledger_(ledger), measured_(measured), image_(&shared) {}

  /// Asks for a call that has been received, once for each.
  Verdict ask(const Notification& call);

 private:
  void note_execution(std::int32_t thread);
  void note_end(std::int32_t thread);
  bool is_of_program(std::int32_t thread) const;
  Verdict ask_rules(const Notification& call);
  ThreadCount* find_count(std::uint64_t generation, std::int32_t thread);
  std::uint64_t number_of_thread(std::uint32_t place, std::uint64_t generation, std::int32_t thread);

  Shared& shared_;
  Ledger& ledger_;
  const int measured_;
  ProgramImage image_;
};

/// Lets the call go on, or answers it, as `verdict` says.
void settle(int listener, std::uint64_t id, const Verdict& verdict);

/// Calls that wait in a serving process because a rule says so, while it answers those of other threads. They are in
/// the ledger, so a new process goes on with them.
class Delays {
 public:
  Delays(Ledger& ledger, int listener) : ledger_(ledger), listener_(listener) {}

  /// Settles the call when its delay is over. Call it once after each wait_for_call() that returns true: then there is
  /// room.
  void add(std::uint64_t id, const Verdict& verdict);

  /// Settles calls that are due, and says whether a call can be received now. Without calls that wait it says so at
  /// once; with some, it waits for a call at most until the next one is due, or until a signal.
  bool wait_for_call();

 private:
  Ledger& ledger_;
  const int listener_;
  std::uint32_t waiting_ = kDelayedCalls;  // at most so many: an earlier process may have left some
};

}  // namespace syscost::seccomp
