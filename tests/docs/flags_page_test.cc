// SPDX-License-Identifier: MIT
//
// The tables of docs/flags.md are made of the table of options, so a flag is described once.
//
// SYSCOST_UPDATE_GOLDEN=1 writes them into the page, between two markers; `./dev update flags` does that.
#include <gtest/gtest.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "session/options/option_table.h"

namespace syscost::session {
namespace {

constexpr const char* kPage = SYSCOST_FLAGS_PAGE;
constexpr std::string_view kBegin = "<!-- tests/docs/flags_page_test.cc: begin -->\n";
constexpr std::string_view kEnd = "<!-- tests/docs/flags_page_test.cc: end -->\n";

std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

/// `[csv-format](csv-format.md#details)`, `[below](#children)`.
std::string link(std::string_view target) {
  const std::string_view page = target.substr(0, target.find(".md"));
  return "[" + std::string(target.starts_with('#') ? "below" : page) + "](" + std::string(target) + ")";
}

std::string meaning(const OptionEntry& option) {
  std::string text(option.about);
  if (option.kind == ValueKind::number) {
    text += "; from " + std::to_string(option.least) + " to " + std::to_string(INT_MAX);
  }
  if (!option.preset.empty()) text += ". Default: " + std::string(option.preset);
  if (!option.more.empty()) text += " (" + link(option.more) + ")";
  for (const Word& word : option.words) text += "<br>" + code(word.text) + ": " + std::string(word.about);
  return text;
}

std::string row(const OptionEntry& option) {
  std::string variable = variable_of(option);
  if (!option.is_flag()) variable += "=" + (option.value.empty() ? "1" : std::string(option.value));
  const std::string flag =
      "--syscost_" + std::string(option.name) + (option.value.empty() ? "" : " ") + std::string(option.value);
  return (option.is_flag() ? "| " + code(flag) : "") + " | " + code(variable) + " | " + meaning(option) + " |\n";
}

std::string tables() {
  std::string text;
  const OptionEntry* before = nullptr;
  for (const OptionEntry& option : option_table()) {
    if (before == nullptr || before->group != option.group) {
      text += "\n## " + std::string(title_of(option.group)) + "\n\n";
      text +=
          option.is_flag() ? "| flag | variable | meaning |\n|---|---|---|\n" : "| variable | meaning |\n|---|---|\n";
    }
    const std::string line = row(option);
    text += option.is_flag() ? line : line.substr(1);
    before = &option;
  }
  return text + "\n";
}

TEST(FlagsPage, HasTheTablesThatTheOptionsGive) {
  std::ifstream file(kPage);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string page = stream.str();
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos) << kPage << " has no line " << kBegin;
  ASSERT_NE(end, std::string::npos) << kPage << " has no line " << kEnd;
  const std::size_t start = begin + kBegin.size();
  if (std::getenv("SYSCOST_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << page.substr(0, start) << tables() << page.substr(end);
  } else {
    EXPECT_EQ(page.substr(start, end - start), tables()) << "docs/flags.md is stale: ./dev update flags";
  }
}

}  // namespace
}  // namespace syscost::session
