// SPDX-License-Identifier: MIT
//
// The tables of docs/flags.md are made of the table of options, so a flag is described once; that of classes, of the
// table of syscalls.
//
// SYSCOST_UPDATE_GOLDEN=1 writes them into the page, between markers; `./dev update flags` does that.
#include <gtest/gtest.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "core/syscall_table.h"
#include "session/options/option_table.h"

namespace syscost::session {
namespace {

constexpr const char* kPage = SYSCOST_FLAGS_PAGE;
/// The markers around a generated part of the page.
std::string mark(const std::string& part, const char* which) {
  return "<!-- tests/docs/flags_page_test.cc" + part + ": " + which + " -->\n";
}

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

/// A row for each class that strace does not have, with the syscalls of x86-64 that belong to it.
std::string classes() {
  std::string text = "\n| class | syscalls |\n|---|---|\n";
  for (const ClassName& one : kSyscallClasses) {
    if (one.word != "wait" && one.word != "volatile") continue;
    text += "| `%" + std::string(one.word) + "` |";
    const char* before = " ";
    for (const SyscallTableEntry& entry : syscall_table(kNativeAbi)) {
      if (overlaps(entry.classes, one.bit)) text += std::exchange(before, ", ") + code(entry.name);
    }
    text += " |\n";
  }
  return text + "\n";
}

/// Holds a part of the page against `generated`, or writes it there.
void expect_part(const std::string& name, const std::string& generated) {
  std::stringstream stream;
  stream << std::ifstream(kPage).rdbuf();
  const std::string page = stream.str();
  const std::size_t begin = page.find(mark(name, "begin"));
  const std::size_t end = page.find(mark(name, "end"));
  ASSERT_NE(begin, std::string::npos) << kPage << " has no line " << mark(name, "begin");
  ASSERT_NE(end, std::string::npos) << kPage << " has no line " << mark(name, "end");
  const std::size_t start = begin + mark(name, "begin").size();
  if (std::getenv("SYSCOST_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << page.substr(0, start) << generated << page.substr(end);
  } else {
    EXPECT_EQ(page.substr(start, end - start), generated) << "docs/flags.md is stale: ./dev update flags";
  }
}

TEST(FlagsPage, HasTheTablesThatTheOptionsGive) {
  expect_part("", tables());
}

TEST(FlagsPage, HasTheMembersOfOurClasses) {
  expect_part(", classes", classes());
}

}  // namespace
}  // namespace syscost::session
