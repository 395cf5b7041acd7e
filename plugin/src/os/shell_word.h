// SPDX-License-Identifier: MIT
//
// Commands in messages, as the user can paste them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace syscost {

/// `word` as a POSIX shell reads it: in quotes where it has to be.
inline std::string shell_word(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace syscost
