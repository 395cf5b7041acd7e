// SPDX-License-Identifier: MIT
#include "csv/row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <string>

namespace syscost::csv {
namespace {

using schema::Column;

std::string field(std::string_view text) {
  std::pmr::string out;
  append_field(out, text);
  return std::string(out);
}

TEST(Field, LeavesPlainTextAlone) {
  EXPECT_EQ(field("Suite/0.Test_1"), "Suite/0.Test_1");
}

TEST(Field, QuotesCommasAndDoublesQuotes) {
  EXPECT_EQ(field("a,b"), "\"a,b\"");
  EXPECT_EQ(field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(field("\""), "\"\"\"\"");
  EXPECT_EQ(field("a\nb,\xe2\x82\"c"), "\"a\\nb,\\xe2\\x82\"\"c\"");
}

TEST(Field, ShowsWhatWouldBreakTheLine) {
  using namespace std::string_view_literals;
  EXPECT_EQ(field("a\nb\rc\0d"sv), "a\\nb\\rc\\0d");
}

TEST(Field, KeepsUtf8AndShowsOtherBytes) {
  EXPECT_EQ(field("caf\xc3\xa9 \xf0\x9f\x90\xa7"), "caf\xc3\xa9 \xf0\x9f\x90\xa7");
  EXPECT_EQ(field("caf\xe9!"), "caf\\xe9!");
  EXPECT_EQ(field("\xc0\x80"), "\\xc0\\x80") << "an overlong form";
  EXPECT_EQ(field("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(field("\xe2\x82"), "\\xe2\\x82") << "cut short";
}

TEST(Row, HasAsManyFieldsAsTheHeader) {
  std::pmr::string line;
  Row row(line);
  row.set(Column::kTest, "Suite.Test");
  row.end();
  EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(header_line().begin(), header_line().end(), ','));
}

TEST(Row, PutsFieldsUnderTheirColumnsAndEndsInTheMark) {
  std::pmr::string line;
  Row row(line);
  row.set(Column::kSchemaVersionColumn, std::uint64_t{1});
  row.set(Column::kStartedAt, "now");
  row.set(Column::kLabel, "");
  row.set(Column::kHost, "here");
  row.end();
  EXPECT_EQ(line.substr(0, 12), "1,,now,,here");
  EXPECT_EQ(line.substr(line.size() - 5), ",end\n");
}

TEST(Row, LeavesANumberThatIsNotThereEmpty) {
  std::pmr::string with_zero;
  Row zero(with_zero);
  zero.set(Column::kWallNs, std::optional<std::uint64_t>(0));
  zero.end();
  std::pmr::string without;
  Row none(without);
  none.set(Column::kWallNs, std::optional<std::uint64_t>());
  none.end();
  EXPECT_EQ(with_zero.size(), without.size() + 1);
}

TEST(RowDeathTest, RefusesColumnsOutOfOrder) {
  std::pmr::string line;
  Row row(line);
  row.set(Column::kHost, "here");
  EXPECT_DEATH(row.set(Column::kRunId, "late"), "row.cc");
}

}  // namespace
}  // namespace syscost::csv
