// SPDX-License-Identifier: MIT
//
// FaultJudge: asks the open rules what happens to a call that waits. In the supervisor, so it neither allocates nor
// locks.
//
// The rules lie in memory of the measured process, which may have fewer rights than the supervisor by now. So each word
// of it is read once, and checked before it is an index.
#pragma once

#include <cstdint>

#include "backends/seccomp/ledger.h"
#include "backends/seccomp/listener.h"
#include "backends/seccomp/program_image.h"
#include "backends/seccomp/shared.h"

namespace syscost::seccomp {

/// What happens to a call.
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

}  // namespace syscost::seccomp
