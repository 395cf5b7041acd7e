// SPDX-License-Identifier: MIT
//
// Patience: how long the launcher waits for tools: for as long as they do something.
//
// A limit in seconds alone cannot tell a tool that hangs from one that a loaded machine lets run a hundredth of the
// time. The CPU time that the tools used can: a limit that passed without any of it is over, any other begins again.
// Not for ever, for a tool that runs in circles.
#pragma once

#include <chrono>

namespace syscost::profilers {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  /// `used`: the CPU time of all tools that run. With `renewals` 0 the limit is one, whatever they do.
  Patience(std::chrono::milliseconds limit, int renewals, Clock::time_point now, std::chrono::nanoseconds used)
      : limit_(limit), renewals_(renewals), until_(now + limit), used_(used) {}

  /// When is_renewed() is to be asked.
  Clock::time_point until() const { return until_; }

  /// True when something was done since the limit began: it begins again, with another until().
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
