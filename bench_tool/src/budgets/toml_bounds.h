// SPDX-License-Identifier: MIT
//
// The bounds of a TOML file. The library that reads it calls itself for each part of a key and for each bracket, so a
// file of a stranger could use up the stack. A file of ours has keys of one part and lists in tables.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace syscost::bench::budgets {

inline constexpr std::size_t kMostTomlBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostKeyParts = 64;
inline constexpr std::size_t kMostNested = 16;

struct TomlExcess {
  std::size_t line = 0;  ///< From 1.
  const char* what = "";
};

/// The first place at which `text` exceeds a bound. Dots and brackets in texts and comments do not count.
std::optional<TomlExcess> find_excess(std::string_view text);

}  // namespace syscost::bench::budgets
