// SPDX-License-Identifier: MIT
//
// CallKeeper: keeps a record of each call beside its counts, as far as there is room. A call of a window has a record,
// or is counted as unkept: records + unkept calls = calls, in every window.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/segments_held.h"

namespace syscost {

class CallKeeper {
 public:
  static constexpr std::string_view kExtension = "records of calls";  ///< Backend::extension()

  virtual ~CallKeeper() = default;
  CallKeeper(const CallKeeper&) = delete;
  CallKeeper& operator=(const CallKeeper&) = delete;

  /// The calls of `lane`'s previous segment that have no record; sets the number to 0. As Backend::read, and after it.
  virtual std::uint64_t take_unkept(Lane lane) = 0;

  /// Keeps no more records until it is told to: calls are unkept. The caller holds the window book's lock. False if a
  /// thread does not end its record in time: then it stays paused for good.
  virtual bool pause() = 0;

 protected:
  CallKeeper() = default;
};

}  // namespace syscost
