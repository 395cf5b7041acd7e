// SPDX-License-Identifier: MIT
#include "core/regex.h"

// The library calls itself for each state of an expression, and `a{1000}` has a thousand of them. So it gets no more
// than the stack of a thread can take.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
#define _GLIBCXX_REGEX_STATE_LIMIT 2000
#include <regex>
#include <utility>

namespace syscost {
namespace {

constexpr std::size_t kLongestPattern = 256;

// Without it the library calls itself for each character of the text, and takes time that doubles with each of them for
// some expressions. It has no back references.
constexpr auto kByStates = std::regex::ECMAScript | std::regex_constants::__polynomial;

}  // namespace

struct Regex::Compiled {
  explicit Compiled(std::string_view pattern) : regex(pattern.begin(), pattern.end(), kByStates) {}
  std::regex regex;
};

Result<Regex> Regex::parse(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) {
    return Failure{
        "it has " + std::to_string(pattern.size()) + " characters, and may have " + std::to_string(kLongestPattern),
        ""};
  }
  try {
    return Regex(std::make_shared<const Compiled>(pattern));
  } catch (const std::regex_error& error) {
    if (error.code() == std::regex_constants::error_complexity) return Failure{"it has a back reference", ""};
    if (error.code() == std::regex_constants::error_space) return Failure{"it repeats too much", ""};
    return Failure{error.what(), ""};
  }
}

Result<bool> Regex::is_found_in(std::string_view text) const {
  try {
    return std::regex_search(text.begin(), text.end(), compiled_->regex);
  } catch (const std::regex_error& error) {
    return Failure{error.what(), ""};
  }
}

}  // namespace syscost
