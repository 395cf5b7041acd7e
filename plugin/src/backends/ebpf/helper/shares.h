// SPDX-License-Identifier: MIT
//
// Who pays for a helper, and how much of it each user may have.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace syscost::ebpf {

// Who pays for a helper, and who can stop it.
//
// A helper lives in the control group of the process that started it. The kernel charges all its memory there, 5 to 14
// MiB and more for each client, freezes it with the group, and a service manager ends it with the group. So a user has
// a helper in each group in which something is measured: a group pays for its own processes, and none waits for
// another. The helper for everyone has the group of its service, and gives no more places than fit there.
//
// A helper also lives in the PID namespace of the process that started it, and the kernel kills it when the first
// process of that namespace ends. One that began in a user namespace has rights there only, and would refuse everyone.
// So a user has a helper in each of these namespaces, too.

/// Differs for calling threads in different groups of any hierarchy, or in different PID or user namespaces; 0 without
/// /proc. `root` is for tests.
std::uint64_t own_surroundings(const std::string& root = {});

/// The least memory limit of the calling thread's group and the groups above it, if any has one that can be read.
std::optional<std::uint64_t> own_memory_limit(const std::string& root = {});

// How much of a helper for everyone each user may have.
//
// A place is memory of the kernel's, which the helper asks for: 13.7 MiB on 2 CPUs, 44 MiB on 64. Giving one takes some
// milliseconds, in which all other clients wait. So a user has a share of the places and of the time.

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
