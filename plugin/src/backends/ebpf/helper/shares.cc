// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/shares.h"

#include <algorithm>

#include "backends/ebpf/shared.h"

namespace syscost::ebpf {

std::size_t places_of_a_guest(std::uint64_t memory_bytes, std::uint64_t map_bytes) {
  constexpr std::uint64_t kLeast = 4;
  constexpr std::uint64_t kMost = SYSCOST_PROCESSES / 4;
  return std::clamp(memory_bytes / 16 / std::max<std::uint64_t>(map_bytes, 1), kLeast, kMost);
}

std::size_t places_within(std::uint64_t limit_bytes, std::uint64_t map_bytes) {
  return std::min<std::uint64_t>(limit_bytes / 2 / std::max<std::uint64_t>(map_bytes, 1), SYSCOST_PROCESSES);
}

bool JoinRate::take(uid_t user, Clock::time_point now) {
  forget_the_rested(now);
  const auto [entry, is_new] = paid_at_.try_emplace(user, now);
  if (!is_new && next(user) > now) return false;
  entry->second += kInterval;
  return true;
}

JoinRate::Clock::time_point JoinRate::next(uid_t user) const {
  const auto entry = paid_at_.find(user);
  return entry == paid_at_.end() ? Clock::time_point::min() : entry->second - (kAtOnce - 1) * kInterval;
}

void JoinRate::forget_the_rested(Clock::time_point now) {
  std::erase_if(paid_at_, [&](const auto& entry) { return entry.second <= now; });
}

}  // namespace syscost::ebpf
