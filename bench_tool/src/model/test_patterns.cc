// SPDX-License-Identifier: MIT
#include "model/test_patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/group.h"
#include "model/test_choice.h"

namespace syscost::bench::model {

bool TestPatterns::matches(const PatternName& window, bool any_kind) const {
  // A program that is told apart by its folder is meant by its file name, too.
  if (!fits(program, window.program) && !fits(program, program_name(window.program))) return false;
  const std::string_view kind = window.kind;
  const bool is_named_by_kind = kind != "test" && kind != "loop" && kind != "benchmark";
  // A pattern says BM_Copy; the window is called `benchmark BM_Copy`.
  std::string_view name = window.name;
  if (kind == "benchmark" && name.starts_with("benchmark ")) name.remove_prefix(std::string_view("benchmark ").size());
  bool is_in = patterns.front().starts_with('!');
  for (std::string_view pattern : patterns) {
    const bool removes = pattern.starts_with('!');
    if (removes) pattern.remove_prefix(1);
    if (is_named_by_kind && !any_kind && !pattern.starts_with(kind_words(kind))) continue;
    // `Log.Write (net_tests)` is printed where several programs have the test.
    const bool has_program = pattern.ends_with(')') && fits(pattern, fmt::format("{} ({})", name, window.program));
    if (has_program || fits(pattern, name)) is_in = !removes;
  }
  return is_in;
}

std::string TestPatterns::text() const {
  return fmt::format("{}", fmt::join(patterns, ", "));
}

}  // namespace syscost::bench::model
