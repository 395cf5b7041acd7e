// SPDX-License-Identifier: MIT
//
// Shares: how much of a helper for everyone each user may have.
//
// A place is memory of the kernel's, which the helper asks for: 13.7 MiB on 2 CPUs, 44 MiB on 64. Giving one takes some
// milliseconds, in which all other clients wait. So a user has a share of the places and of the time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace syscost::ebpf {

/// Places that one user may have: a quarter of all, less where their maps of `map_bytes` would take more than a
/// sixteenth of the machine's memory, but four.
std::size_t places_of_a_guest(std::uint64_t memory_bytes, std::uint64_t map_bytes);

/// Places of all users together where the helper's control group has a limit of memory: half of that. The rest is for
/// the helper itself, and for a place that is made before the memory of another one is free.
std::size_t places_within(std::uint64_t limit_bytes, std::uint64_t map_bytes);

/// When a user's processes may have places: some at once, and then so many in a second.
class JoinRate {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kAtOnce = 16;
  static constexpr std::chrono::nanoseconds kInterval = std::chrono::nanoseconds(std::chrono::seconds(1)) / 32;

  /// True: `user` may have one now, and it is counted.
  bool take(uid_t user, Clock::time_point now);
  /// When take() may say yes again, after it said no.
  Clock::time_point next(uid_t user) const;

 private:
  void forget_the_rested(Clock::time_point now);

  /// When all that a user has taken will have been paid for, one for each interval.
  std::unordered_map<uid_t, Clock::time_point> paid_at_;
};

}  // namespace syscost::ebpf
