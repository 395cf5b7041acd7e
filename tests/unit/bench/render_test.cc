// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "render/json.h"
#include "render/numbers.h"
#include "render/table.h"

namespace syscost::bench::render {
namespace {

TEST(Duration, KeepsThreeDigitsAndNeverRoundsToAThousand) {
  EXPECT_EQ(duration(0.0), "0 ns");
  EXPECT_EQ(duration(152.0), "152 ns");
  EXPECT_EQ(duration(0.25), "0.25 ns");
  EXPECT_EQ(duration(1234.0), "1.23 us");
  EXPECT_EQ(duration(131000.0), "131 us");
  EXPECT_EQ(duration(999'900.0), "1.00 ms");
  EXPECT_EQ(duration(2.5e9), "2.50 s");
  EXPECT_EQ(duration(std::nullopt), "n/a");
}

TEST(Count, ShowsModeAndRangeWhereRepetitionsDiffer) {
  EXPECT_EQ(count(stats::spread_of({1024, 1024})), "1024");
  EXPECT_EQ(count(stats::spread_of({1024, 1026, 1024})), "1024 [1024..1026]");
  EXPECT_EQ(count(0.5), "0.5");
  EXPECT_EQ(count(0.0001), "<0.001");
}

TEST(Percent, IsNotZeroWhereNothingWasMeasured) {
  EXPECT_EQ(percent(std::nullopt, stats::spread_of({10})), "n/a");
  EXPECT_EQ(percent(stats::spread_of({1}), stats::spread_of({0})), "n/a");
  EXPECT_EQ(percent(stats::spread_of({15}), stats::spread_of({10})), "150.0");
}

TEST(PowerOfTwo, UsesBinarySuffixesForWholeMultiplesOnly) {
  EXPECT_EQ(power_of_two(512), "512");
  EXPECT_EQ(power_of_two(1024), "1K");
  EXPECT_EQ(power_of_two(1152), "1152");
  EXPECT_EQ(power_of_two(std::uint64_t{1} << 40), "1T");
}

TEST(Table, AlignsCellsAndLeavesNoTrailingSpace) {
  Table table({{"name"}, {"n", Align::right}, {""}});
  table.add_row({"a", "10", ""});
  table.add_row({"longer", "7", "note"});
  EXPECT_EQ(table.text(), "name     n\na       10\nlonger   7  note\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"x"}, {"y"}});
  table.add_row({"\xC3\xA4", "1"});
  table.add_row({"b", "2"});
  EXPECT_EQ(table.text(), "x  y\n\xC3\xA4  1\nb  2\n");
}

TEST(Table, EscapesPipesInMarkdown) {
  Table table({{"x"}, {"n", Align::right}});
  table.add_row({"a|b", "1"});
  EXPECT_EQ(table.markdown(), "| x | n |\n|---|---:|\n| a\\|b | 1 |\n");
}

TEST(Table, PutsNamesIntoCodeAndLeavesMarkdown) {
  Table table({{"x", Align::left, Cells::names}, {"y", Align::left, Cells::markdown}});
  table.add_row({"BM_Fill<int>/8", "**regressed**"});
  EXPECT_EQ(table.markdown(), "| x | y |\n|---|---|\n| `BM_Fill<int>/8` | **regressed** |\n");
  EXPECT_EQ(table.text(), "x               y\nBM_Fill<int>/8  **regressed**\n");
}

TEST(Markdown, KeepsANameLetterByLetter) {
  EXPECT_EQ(code_span("x:1*2*3_<script>[a](b)\\"), "`x:1*2*3_<script>[a](b)\\`");
  EXPECT_EQ(code_span(""), "");
  // Where backquotes cannot.
  EXPECT_EQ(code_span("a|b`c\\|"), "<code>a&#124;b&#96;c&#92;&#124;</code>");
  EXPECT_EQ(code_span("a|b"), "<code>a&#124;b</code>");
  EXPECT_EQ(code_span("a`b"), "<code>a&#96;b</code>");
  EXPECT_EQ(code_span(" <b> "), "<code>&#32;&#60;b&#62;&#32;</code>");
}

TEST(Markdown, EscapesWhatCouldBeginMarkup) {
  EXPECT_EQ(escaped_markdown("<b> *x* `y` ~z~ a|b \\ $e$"), "\\<b> \\*x\\* \\`y\\` \\~z\\~ a\\|b \\\\ \\$e\\$");
  EXPECT_EQ(escaped_markdown("[a](b) ![a][b] &lt; https://a.b www.a.b"),
            "[a\\](b) ![a\\][b] \\&lt; https\\://a.b www\\.a.b");
  EXPECT_EQ(escaped_markdown("_a_ __b"), "\\_a\\_ \\_\\_b");
}

TEST(Markdown, MentionsNoOne) {
  EXPECT_EQ(escaped_markdown("@team and (@org/team)"), "@&#8203;team and (@&#8203;org/team)");
  EXPECT_EQ(escaped_markdown("user@host @ @-x"), "user@host @ @-x");
}

TEST(Markdown, LeavesWhatReadsTheSame) {
  for (const char* text :
       {"1024 [1024..1026]", "90 us -> 99 us, +8.4..+12 %", "clock_nanosleep", "a & b", "p<0.0001", "C:", "+1 x"}) {
    EXPECT_EQ(escaped_markdown(text), text);
  }
}

TEST(Markdown, FencesWhatHoldsFences) {
  EXPECT_EQ(code_block("a\n"), "```\na\n```\n");
  EXPECT_EQ(code_block("a\n````\nb\n"), "`````\na\n````\nb\n`````\n");
}

TEST(Json, EscapesWhatCannotBeSeen) {
  const Json json = {{"name", "a\u202Eb\x7F\u009B\U000E0041 Gr\u00F6\u00DFe \xFF"}};
  const std::string text = dump(json);
  EXPECT_EQ(text, "{\n  \"name\": \"a\\u202eb\\u007f\\u009b\\udb40\\udc41 Gr\u00F6\u00DFe \uFFFD\"\n}\n");
  EXPECT_EQ(Json::parse(text)["name"], "a\u202Eb\x7F\u009B\U000E0041 Gr\u00F6\u00DFe \uFFFD");
}

TEST(CsvWriter, QuotesWhatNeedsIt) {
  CsvWriter csv({"a", "b"});
  csv.cell("x, \"y\"").number(std::nullopt);
  csv.end_row();
  csv.cell("").number(1.5);
  csv.end_row();
  EXPECT_EQ(csv.text(), "a,b\n\"x, \"\"y\"\"\",\n,1.5\n");
}

}  // namespace
}  // namespace syscost::bench::render
