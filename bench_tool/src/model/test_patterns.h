// SPDX-License-Identifier: MIT
//
// Test patterns: which tests a budget, a rule or an accept of a project's file means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::model {

/// What patterns are matched with.
struct PatternName {
  std::string_view kind;     ///< One of schema::kKinds.
  std::string_view name;     ///< As it is printed, without the program: `Log.Write, loop flush`.
  std::string_view program;  ///< model::Context::program
};

struct TestPatterns {
  std::vector<std::string> patterns = {"*"};  ///< With * and ?; one that begins with ! takes out what it matches.
  std::string program = "*";                  ///< A pattern.

  /// Windows that are no test, loop or benchmark match a pattern that names their kind, such as `suite *`. With
  /// `any_kind` each pattern is for them, too.
  bool matches(const PatternName& window, bool any_kind = false) const;
  /// `Log.*, !Log.Polls`
  std::string text() const;
};

}  // namespace syscost::bench::model
