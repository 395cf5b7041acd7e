// SPDX-License-Identifier: MIT
#include "faults/framework.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace syscost::bench::faults {
namespace {

std::string escaped(const std::string& name, std::string_view special) {
  std::string text;
  for (const char c : name) {
    if (special.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

/// A row's `opens#2` may be the test's own name, or that of the second test `opens`. If it is the second, the others of
/// that name run, too.
std::vector<std::string> names_in_program(const std::string& name) {
  std::vector<std::string> names = {name};
  const std::size_t mark = name.rfind('#');
  const bool has_number = mark != std::string::npos && mark + 1 < name.size() &&
                          name.find_first_not_of("0123456789", mark + 1) == std::string::npos;
  if (has_number) names.push_back(name.substr(0, mark));
  return names;
}

}  // namespace

std::string_view word_of(Framework framework) {
  return framework == Framework::googletest ? "googletest" : framework == Framework::catch2 ? "catch2" : "doctest";
}

std::optional<Framework> framework_in(std::string_view help) {
  const auto has = [&](std::string_view word) { return help.find(word) != std::string_view::npos; };
  // doctest's help names Catch nowhere, and GoogleTest's names neither.
  if (has("--gtest_filter")) return Framework::googletest;
  if (has("[doctest]")) return Framework::doctest;
  if (has("Catch")) return Framework::catch2;
  return std::nullopt;
}

std::string selecting(Framework framework, const std::string& name) {
  const std::vector<std::string> names = names_in_program(name);
  switch (framework) {
    case Framework::googletest: {
      std::vector<std::string> filters = names;
      for (std::string& filter : filters) {
        std::replace_if(
            filter.begin(), filter.end(), [](char c) { return c == '-' || c == ':'; }, '?');
      }
      return fmt::format("--gtest_filter={}", fmt::join(filters, ":"));
    }
    case Framework::doctest: {
      std::string filter;
      for (const std::string& one : names) {
        // A row names the suite, too, and doctest's filter does not; a name without a suite may have a full stop as
        // well.
        const std::size_t stop = one.find('.');
        filter += (filter.empty() ? "--test-case=" : ",") + escaped(one, ",\\");
        if (stop != std::string::npos) filter += ',' + escaped(one.substr(stop + 1), ",\\");
      }
      return filter;
    }
    case Framework::catch2:
      break;
  }
  std::string selected;
  for (const std::string& one : names) {
    // A test of Catch2 may begin with what it takes for an option, a tag or a negation.
    selected += (selected.empty() ? "\"" : ",\"") + escaped(one, "\"\\,[") + '"';
  }
  return selected;
}

bool may_select_others(Framework framework, const std::string& name) {
  return framework == Framework::googletest && name.find_first_of("-:*?") != std::string::npos;
}

}  // namespace syscost::bench::faults
