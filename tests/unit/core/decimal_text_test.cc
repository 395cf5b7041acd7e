// SPDX-License-Identifier: MIT
#include "os/text.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdio>
#include <string>

namespace syscost {
namespace {

TEST(DecimalText, IsWhatPrintfWritesInTheCLocale) {
  EXPECT_EQ(decimal_text(1.6, 2), "1.60");
  EXPECT_EQ(decimal_text(99.96, 1), "100.0");
  EXPECT_EQ(decimal_text(-0.25, 1), "-0.2");
  EXPECT_EQ(decimal_text(2, 0), "2");
  EXPECT_EQ(significant_text(1.0 / 3, 3), "0.333");
  EXPECT_EQ(significant_text(1234567, 3), "1.23e+06");
  EXPECT_EQ(significant_text(20.5, 15), "20.5");
}

TEST(DecimalText, IsTheSameInALocaleWithADecimalComma) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  bool is_set = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8", "ru_RU.UTF-8"}) {
    is_set = is_set || std::setlocale(LC_ALL, name) != nullptr;
  }
  char by_printf[16];
  std::snprintf(by_printf, sizeof by_printf, "%.1f", 1.5);
  const std::string ours = decimal_text(1.5, 1);
  const auto read = number_of_text("0.5");
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(ours, "1.5");
  EXPECT_EQ(read, 0.5);
  if (!is_set) GTEST_SKIP() << "no locale with a decimal comma is installed (apt-get install locales-all)";
  EXPECT_STREQ(by_printf, "1,5");
}

TEST(DecimalText, IsReadAsAWholeOrNotAtAll) {
  EXPECT_EQ(number_of_text("1e-3"), 0.001);
  for (const char* text : {"", " 1", "1 ", "0x1p3", "1,5", "one"})
    EXPECT_EQ(number_of_text(text), std::nullopt) << text;
}

}  // namespace
}  // namespace syscost
