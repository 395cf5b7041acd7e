// SPDX-License-Identifier: MIT
#include "model/test_choice.h"

#include <algorithm>

namespace syscost::bench::model {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

bool fits_one(const std::vector<std::string>& patterns, const std::vector<std::string>& names) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return fits(pattern, name); });
  });
}

}  // namespace

TestChoice::TestChoice(std::string_view text) : text_(text) {
  const std::size_t minus = text.find('-');
  chosen_ = split(text.substr(0, minus));
  if (minus != std::string_view::npos) left_out_ = split(text.substr(minus + 1));
}

bool TestChoice::matches(const std::vector<std::string>& names) const {
  return (chosen_.empty() || fits_one(chosen_, names)) && !fits_one(left_out_, names);
}

bool fits(std::string_view pattern, std::string_view text) {
  // Where the last `*` is, and how much of the text it has matched so far.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  std::size_t p = 0;
  for (std::size_t t = 0; t < text.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace syscost::bench::model
