// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace syscost {

/// In a BackendRequest: keep the events of the scheduler.
struct SchedulerWish {
  static constexpr std::string_view kWish = "scheduler";

  std::uint32_t events = 0;  ///< In a window there is room for so many.
};

}  // namespace syscost
