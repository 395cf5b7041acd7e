// SPDX-License-Identifier: MIT
#include "render/terminal.h"

#include <gtest/gtest.h>

#include <sstream>

#include "bench.h"
#include "render/table.h"

namespace syscost::bench::render {
namespace {

TEST(DisplayWidth, IsTheTerminalsAndNotThatOfBytes) {
  EXPECT_EQ(display_width("Log.Write"), 9U);
  EXPECT_EQ(display_width("\u00e9crit"), 5U);
  EXPECT_EQ(display_width("e\u0301crit"), 5U) << "an accent stands on its letter";
  EXPECT_EQ(display_width("\u66f8\u304f"), 4U) << "CJK takes two columns each";
  EXPECT_EQ(display_width("\U0001f600"), 2U);
  EXPECT_EQ(display_width("\033[31mred\033[0m"), 3U) << "a colour takes none";
}

TEST(Shortened, KeepsBothEndsOfANameAndTheStartOfANote) {
  EXPECT_EQ(shortened_middle("StorageEngine.KeepsRecords", 15), "Storag...ecords");
  EXPECT_EQ(shortened_middle("Log.Write", 9), "Log.Write");
  EXPECT_EQ(shortened_end("+1 openat, -2 lseek", 12), "+1 openat...");
  EXPECT_EQ(shortened_end("\033[31mregressed a lot\033[0m", 12), "\033[31mregressed...\033[0m");
  // A character of two columns is not cut in half.
  EXPECT_LE(display_width(shortened_middle("\u66f8\u304f\u66f8\u304f\u66f8\u304f", 8)), 8U);
}

TEST(Wrapped, BreaksAtBlanksAndIndentsTheRest) {
  EXPECT_EQ(wrapped("one two three four\n", 9, 2), "one two\n  three\n  four\n");
  EXPECT_EQ(wrapped("  - warning of it\n", 11, 2), "  - warning\n    of it\n");
  EXPECT_EQ(wrapped("a_word_that_is_too_long\n\nx\n", 9, 2), "a_word_that_is_too_long\n\nx\n");
  EXPECT_EQ(wrapped("any width\n", 0, 2), "any width\n");
}

TEST(Table, FitsAScreenByShorteningWhatMayBeShortened) {
  Table table({{"calls", Align::right},
               {"test", Align::left, Cells::names, Shrinks::in_the_middle},
               {"errnos", Align::left, Cells::text, Shrinks::at_the_end}});
  table.add_row({"12", "StorageEngine.KeepsRecordsInOrderAfterARestart", "18 ENOENT, 3 EACCES, 2 EAGAIN, 1 EBADF"});
  table.add_row({"3", "\u66f8\u304f.\u66f8\u304f", ""});
  std::istringstream lines(table.text(2, 2, 60));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 60U) << line;
  EXPECT_NE(table.text().find("AfterARestart  18 ENOENT, 3 EACCES"), std::string::npos) << "whole where there is room";
}

TEST(Help, HasNoLineOfMoreThanEightyColumns) {
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{{"--help"},
                                                                                    {"summary", "--help"},
                                                                                    {"show", "--help"},
                                                                                    {"compare", "--help"},
                                                                                    {"ab", "--help"},
                                                                                    {"doctor", "--help"}}) {
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(bench_main(args, out, err), 0);
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
  }
}

}  // namespace
}  // namespace syscost::bench::render
