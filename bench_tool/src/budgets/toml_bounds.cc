// SPDX-License-Identifier: MIT
#include "budgets/toml_bounds.h"

#include <algorithm>

namespace syscost::bench::budgets {
namespace {

/// Where the text that begins at `at`, with its first quote, ends. It may have no end, which the library will say.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view three = text.substr(at, 3);
  const bool is_long = three.size() == 3 && three[1] == quote && three[2] == quote;
  for (at += is_long ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == '\n' && !is_long) {
      return at;
    } else if (text[at] == quote && (!is_long || text.substr(at, 3) == three)) {
      at += is_long ? 3 : 1;
      // Up to two quotes may stand before the three that end it.
      for (int more = 0; is_long && more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
      return at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<TomlExcess> find_excess(std::string_view text) {
  std::size_t dots = 0;  // since a key or value began
  std::size_t nested = 0;
  const auto here = [&](std::size_t at, const char* what) {
    const auto begin = text.begin();
    const auto lines = std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n');
    return TomlExcess{static_cast<std::size_t>(lines) + 1, what};
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_text(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++dots >= kMostKeyParts) return here(at, "a key has more than 64 parts");
    if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '[' || c == '{') ++nested;
    if ((c == ']' || c == '}') && nested > 0) --nested;
    if (nested > kMostNested) return here(at, "more than 16 lists or tables inside each other");
    ++at;
  }
  return std::nullopt;
}

}  // namespace syscost::bench::budgets
