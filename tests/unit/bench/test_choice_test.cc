// SPDX-License-Identifier: MIT
#include "model/choice.h"

#include <gtest/gtest.h>

namespace syscost::bench::model {
namespace {

bool is_chosen(const char* pattern, const char* name) {
  return TestChoice(pattern).matches({name});
}

TEST(TestChoice, ReadsWhatGtestFilterReads) {
  EXPECT_TRUE(is_chosen("Log.*:Net.?", "Log.Reads"));
  EXPECT_TRUE(is_chosen("Log.*:Net.?", "Net.A"));
  EXPECT_FALSE(is_chosen("Log.*:Net.?", "Net.AB"));
  EXPECT_FALSE(is_chosen("Log", "Log.Reads")) << "a pattern stands for the whole name";
  EXPECT_TRUE(is_chosen("*-*Slow*:Net.*", "Log.Reads"));
  EXPECT_FALSE(is_chosen("*-*Slow*:Net.*", "Net.A"));
  EXPECT_FALSE(is_chosen("-*Slow*", "Log.IsSlowAgain"));
  EXPECT_TRUE(is_chosen("-*Slow*", "Log.Reads"));
}

TEST(TestChoice, OneNameOfSeveralIsEnoughAndOneLeftOutTooMuch) {
  EXPECT_TRUE(TestChoice("Log.Reads").matches({"Log.Reads, loop copy", "Log.Reads"}));
  EXPECT_FALSE(TestChoice("*-*loop*").matches({"Log.Reads, loop copy", "Log.Reads"}));
}

TEST(TestChoice, HasStarsAndQuestionMarks) {
  EXPECT_TRUE(fits("*", ""));
  EXPECT_TRUE(fits("*.Write?", "Log.Write8"));
  EXPECT_TRUE(fits("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(fits("Log.*", "Blog.Write"));
  EXPECT_FALSE(fits("*.Write?", "Log.Write"));
  EXPECT_FALSE(fits("", "a"));
}

TEST(TestChoice, NeedsNoTimeForPatternsOfManyStars) {
  const std::string text(2000, 'a');
  EXPECT_FALSE(fits("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
  EXPECT_TRUE(fits("*a*a*a*a*a*a*a*a*a*a*a*a*", text));
}

}  // namespace
}  // namespace syscost::bench::model
