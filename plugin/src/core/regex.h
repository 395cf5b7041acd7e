// SPDX-License-Identifier: MIT
//
// Regex: an ECMAScript regular expression. The templates of <regex> take the compiler several seconds in each file that
// uses them, so regex.cc is the only one that does.
#pragma once

#include <memory>
#include <string_view>

#include "os/errors.h"

namespace syscost {

/// Immutable, readable from any thread; copies share one compiled expression.
class Regex {
 public:
  /// A Failure has the library's text of what is wrong with `pattern`, and no remedy.
  static Result<Regex> parse(std::string_view pattern);

  /// A Failure where the library gives up, on a text that takes it too many steps.
  Result<bool> is_found_in(std::string_view text) const;

 private:
  struct Compiled;
  explicit Regex(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace syscost
