// SPDX-License-Identifier: MIT
//
// Request: what the dispatch backend shall count, and the wishes of extras, which the backend does not name.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "core/selector.h"
#include "core/syscall_id.h"

namespace syscost::dispatch {

struct Request {
  const Filter* filter = nullptr;  ///< Null = everything. It must outlive the backend.
  DetailRequest details;           ///< Of these, only kinds of files.

  /// A wish has `static constexpr std::string_view kWish`, its name.
  template <class Wish>
  Request& add(Wish wish) {
    wishes[Wish::kWish] = std::make_shared<const Wish>(std::move(wish));
    return *this;
  }
  /// Null if the request has no such wish.
  template <class Wish>
  const Wish* find() const {
    const auto found = wishes.find(Wish::kWish);
    return found == wishes.end() ? nullptr : static_cast<const Wish*>(found->second.get());
  }

  std::map<std::string_view, std::shared_ptr<const void>> wishes;  ///< By name.
};

}  // namespace syscost::dispatch
