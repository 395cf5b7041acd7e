// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "render/csv_writer.h"
#include "render/table.h"
#include "render/units.h"

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
