// SPDX-License-Identifier: MIT
#include "faults/framework.h"

#include <algorithm>

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
  switch (framework) {
    case Framework::googletest: {
      std::string filter = name;
      std::replace_if(
          filter.begin(), filter.end(), [](char c) { return c == '-' || c == ':'; }, '?');
      return "--gtest_filter=" + filter;
    }
    case Framework::doctest: {
      // A row names the suite, too, and doctest's filter does not; a name without a suite may have a full stop as well.
      const std::size_t stop = name.find('.');
      std::string filter = "--test-case=" + escaped(name, ",\\");
      if (stop != std::string::npos) filter += ',' + escaped(name.substr(stop + 1), ",\\");
      return filter;
    }
    case Framework::catch2:
      break;
  }
  // A test of Catch2 may begin with what it takes for an option, a tag or a negation.
  return '"' + escaped(name, "\"\\,[") + '"';
}

bool may_select_others(Framework framework, const std::string& name) {
  return framework == Framework::googletest && name.find_first_of("-:*?") != std::string::npos;
}

}  // namespace syscost::bench::faults
