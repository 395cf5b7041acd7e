// SPDX-License-Identifier: MIT
#include "session/options/option_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "extras/profilers/session/tools.h"
#include "session/loops/loop_run.h"

namespace syscost::session {
namespace {

std::string preset_of(const char* name) {
  return plain_text(find_option(name, false)->preset);
}

/// Cause and fix, or "" when `value` is taken.
std::string entry_complaint(const OptionEntry& option, std::string_view value) {
  const std::string setting = variable_of(option) + "=" + std::string(value);
  const Result<ParsedOptions> parsed = parse_options({"program"}, {setting}, Spelling::prefixed);
  return parsed.ok() ? "" : parsed.failure().reason + " | " + parsed.failure().how_to_fix;
}

TEST(OptionTable, NamesEachOptionOnceAndGroupByGroup) {
  std::set<std::string_view> names;
  OptionGroup before = OptionGroup::results;
  for (const OptionEntry& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_GE(option.group, before) << option.name;
    before = option.group;
    EXPECT_NE(option.about, "") << option.name;
    EXPECT_EQ(option.value.empty(), option.stands_alone()) << option.name;
    EXPECT_EQ(find_option(option.name, false), &option);
    EXPECT_EQ(find_option(option.name, true) != nullptr, option.is_flag()) << option.name;
  }
}

TEST(OptionTable, SendsEachValueWhereItsKindBelongs) {
  for (const OptionEntry& option : option_table()) {
    SCOPED_TRACE(option.name);
    const auto goes_to = [&](auto kind_of_member) {
      return std::holds_alternative<decltype(kind_of_member)>(option.target);
    };
    switch (option.kind) {
      case ValueKind::on_off:
        EXPECT_TRUE(goes_to(&Options::quick));
        break;
      case ValueKind::text:
        EXPECT_TRUE(goes_to(&Options::csv) || goes_to(Take()));
        break;
      case ValueKind::file:
      case ValueKind::folder:
        EXPECT_TRUE(goes_to(&Options::csv));
        break;
      case ValueKind::folders:
        EXPECT_TRUE(goes_to(static_cast<std::vector<std::string> Options::*>(&Options::script_folders)));
        break;
      case ValueKind::number:
        EXPECT_TRUE(goes_to(&Options::cycles));
        break;
      case ValueKind::on_words:
      case ValueKind::word:
      case ValueKind::words:
      case ValueKind::names:
      case ValueKind::selector:
        EXPECT_TRUE(goes_to(Take()));
    }
  }
}

TEST(OptionTable, TakesEachWordThatItNamesAndNoOther) {
  for (const OptionEntry& option : option_table()) {
    for (const Word& word : option.words)
      EXPECT_EQ(entry_complaint(option, word.text == "events=N" ? "events=1000" : word.text), "") << option.name;
    if (option.kind != ValueKind::word && option.kind != ValueKind::words && option.kind != ValueKind::on_words)
      continue;
    EXPECT_NE(entry_complaint(option, "nonsense").find("\"nonsense\" is not one of " + list_of_words(option.words)),
              std::string::npos)
        << option.name;
  }
}

TEST(OptionTable, SaysWhatHoldsWithoutAnOption) {
  const LoopPlan plan = LoopPlan::from(Options{});
  EXPECT_EQ(preset_of("repeats"), std::to_string(plan.repeats));
  EXPECT_EQ(preset_of("warmup"), std::to_string(plan.warm_ups));
  EXPECT_EQ(preset_of("bpf"), kDefaultScript);
  EXPECT_EQ(preset_of("backend"), find_option("backend", true)->words.front().text);
}

TEST(OptionTable, RefusesAValueThatIsMissing) {
  for (const char* name : {"csv", "cupti"}) {
    EXPECT_NE(entry_complaint(*find_option(name, false), "").find("a file name is missing"), std::string::npos) << name;
  }
  for (const char* name : {"artifacts", "bpf_path"}) {
    EXPECT_NE(entry_complaint(*find_option(name, false), "").find("the name of a folder is missing"),
              std::string::npos);
  }
}

TEST(Help, HasALineForEachOptionThatAScreenCanHold) {
  const std::string text = help_text();
  for (const OptionEntry& option : option_table()) {
    const std::string flag = (option.is_flag() ? "\n  --syscost_" + std::string(option.name) : "") + " ";
    EXPECT_NE(text.find(flag), std::string::npos) << option.name;
    EXPECT_NE(text.find(variable_of(option)), std::string::npos) << option.name;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST(Help, LeavesNoMarkOfThePageInIt) {
  EXPECT_EQ(help_text().find('`'), std::string::npos);
}

}  // namespace
}  // namespace syscost::session
