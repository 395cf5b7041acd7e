// SPDX-License-Identifier: MIT
//
// Test choice: which tests a command shows. The grammar is that of --gtest_filter, because users know it.
//
// `Log.*:Net.*-*Slow*`: patterns with colons between them. Patterns after a minus leave tests out. `*` is any text and
// `?` is any character.
// A pattern must fit the whole name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::model {

class TestChoice {
 public:
  /// "" chooses every test.
  TestChoice() = default;
  explicit TestChoice(std::string_view text);

  bool is_everything() const { return chosen_.empty() && left_out_.empty(); }
  const std::string& text() const { return text_; }
  /// True if a pattern fits one of the `names` of a test, and no pattern after the minus fits any.
  bool matches(const std::vector<std::string>& names) const;

 private:
  std::string text_;
  std::vector<std::string> chosen_;
  std::vector<std::string> left_out_;
};

/// True if `pattern` with `*` and `?` fits the whole of `text`.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace syscost::bench::model
