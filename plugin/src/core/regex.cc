// SPDX-License-Identifier: MIT
#include "core/regex.h"

#include <regex>
#include <utility>

namespace syscost {

struct Regex::Compiled {
  explicit Compiled(std::string_view pattern) : regex(pattern.begin(), pattern.end()) {}
  std::regex regex;
};

Result<Regex> Regex::parse(std::string_view pattern) {
  try {
    return Regex(std::make_shared<const Compiled>(pattern));
  } catch (const std::regex_error& error) {
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
