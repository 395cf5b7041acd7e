// SPDX-License-Identifier: MIT
#include "budgets/closest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace syscost::bench::budgets {
namespace {

/// Letters to insert, remove or replace (Levenshtein 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t kLongest = 100;  // a longer one is no slip of the finger
  if (word.size() > kLongest) return {};
  std::size_t nearest = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string_view meant;
  for (std::string_view one : words) {
    const std::size_t apart = distance(word, one);
    if (apart >= nearest || apart >= one.size()) continue;
    nearest = apart;
    meant = one;
  }
  return meant.empty() ? std::string() : fmt::format(" - did you mean {}?", meant);
}

}  // namespace syscost::bench::budgets
