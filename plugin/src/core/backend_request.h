// SPDX-License-Identifier: MIT
//
// BackendRequest: what a backend shall count, and the wishes of extras, which no backend names.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "core/selector.h"
#include "core/syscall_id.h"

namespace syscost {

struct BackendRequest {
  const Filter* filter = nullptr;  ///< Null = everything. It must outlive the backend.
  DetailRequest details = {};      ///< How to separate calls of one syscall; dispatch knows only kinds of files.

  /// A wish has `static constexpr std::string_view kWish`, its name.
  template <class Wish>
  BackendRequest& add(Wish wish) {
    wishes[Wish::kWish] = std::make_shared<const Wish>(std::move(wish));
    return *this;
  }
  /// Null if the request has no such wish.
  template <class Wish>
  const Wish* find() const {
    const auto found = wishes.find(Wish::kWish);
    return found == wishes.end() ? nullptr : static_cast<const Wish*>(found->second.get());
  }

  std::map<std::string_view, std::shared_ptr<const void>> wishes = {};  ///< By name.
};

/// Count other programs, too: the processes below. A ProgramReader (extensions.h) has their calls.
struct OtherProgramsWish {
  static constexpr std::string_view kWish = "other programs";
};

/// See the calls that the filter leaves out, too, and count them not.
struct UnselectedCallsWish {
  static constexpr std::string_view kWish = "unselected calls";
};

}  // namespace syscost
