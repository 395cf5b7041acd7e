// SPDX-License-Identifier: MIT
//
// FaultJudge: asks the open rules what happens to a call that waits. In the supervisor, so it neither allocates nor
// locks.
#pragma once

#include <cstdint>

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
  /// `shared` must outlive it.
  explicit FaultJudge(Shared& shared) : shared_(shared), image_(shared.faults) {}

  /// Asks for a call that has been received, once for each.
  Verdict ask(const Notification& call);

 private:
  void note_execution(const Notification& call);
  bool is_of_program(std::int32_t thread) const;
  Verdict ask_rules(const Notification& call);

  Shared& shared_;
  ProgramImage image_;
};

}  // namespace syscost::seccomp
