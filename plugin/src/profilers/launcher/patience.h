// SPDX-License-Identifier: MIT
//
// Patience: the launcher waits for tools as long as they work.
//
// A limit in seconds alone does not distinguish a tool that hangs from one that gets a hundredth of the time on a
// loaded machine. The CPU time of the tools does: if they used none, the limit is over, else it begins again. The
// number of renewals is limited, because a tool may run in an endless loop.
#pragma once

#include <chrono>

namespace syscost::profilers {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  /// `used`: the CPU time of all running tools. With `renewals` 0 the limit ends even if they work.
  Patience(std::chrono::milliseconds limit, int renewals, Clock::time_point now, std::chrono::nanoseconds used)
      : limit_(limit), renewals_(renewals), until_(now + limit), used_(used) {}

  /// Call is_renewed() at this time.
  Clock::time_point until() const { return until_; }

  /// True if the tools worked since the limit began. Then it begins again, with another until().
  bool is_renewed(Clock::time_point now, std::chrono::nanoseconds used) {
    if (used == used_ || renewals_ == 0) return false;
    --renewals_;
    used_ = used;
    until_ = now + limit_;
    return true;
  }

 private:
  std::chrono::milliseconds limit_;
  int renewals_;
  Clock::time_point until_;
  std::chrono::nanoseconds used_;
};

}  // namespace syscost::profilers
