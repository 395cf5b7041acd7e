// SPDX-License-Identifier: MIT
//
// BackendRequest: what a backend shall count, and the wishes of extras, which the core does not name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/selector.h"
#include "core/syscall_id.h"

namespace syscost {

class BackendRequest {
 public:
  const Filter* filter = nullptr;  ///< Null = everything. It must outlive the backend.
  DetailRequest details;           ///< How to tell calls of one syscall apart.
  bool children = false;           ///< The processes below are counted, too.

  /// A wish has `static constexpr std::string_view kWish`, its name.
  template <class Wish>
  BackendRequest& add(Wish wish) {
    wishes_[Wish::kWish] = std::make_shared<const Wish>(std::move(wish));
    return *this;
  }
  /// Null: nobody wishes it.
  template <class Wish>
  const Wish* find() const {
    const auto found = wishes_.find(Wish::kWish);
    return found == wishes_.end() ? nullptr : static_cast<const Wish*>(found->second.get());
  }

 private:
  std::map<std::string_view, std::shared_ptr<const void>> wishes_;
};

}  // namespace syscost
