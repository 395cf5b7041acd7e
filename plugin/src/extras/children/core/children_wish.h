// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace syscost {

/// In a BackendRequest: count the processes below, too.
struct ChildrenWish {
  static constexpr std::string_view kWish = "children";
};

}  // namespace syscost
