// SPDX-License-Identifier: MIT
//
// Measured: a number that may not have been measured.
//
// An empty cell means "not counted", and must reach the screen as `n/a`, never as 0. std::optional says the same in
// twice the memory; a million rows of thirteen such numbers are the reason for this type.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace syscost::bench::model {

class Measured {
 public:
  /// Largest number that can be held; readers refuse larger ones.
  static constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max() - 1;

  constexpr Measured() = default;
  /// `value` <= kLargest.
  constexpr explicit Measured(std::uint64_t value) : value_(value) {}

  constexpr bool has_value() const { return value_ != kNothing; }
  /// Only when has_value().
  constexpr std::uint64_t operator*() const { return value_; }
  constexpr std::uint64_t value_or(std::uint64_t fallback) const { return has_value() ? value_ : fallback; }
  constexpr std::optional<std::uint64_t> optional() const { return has_value() ? std::optional(value_) : std::nullopt; }

 private:
  static constexpr std::uint64_t kNothing = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_ = kNothing;
};

}  // namespace syscost::bench::model
