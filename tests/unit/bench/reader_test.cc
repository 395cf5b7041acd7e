// SPDX-License-Identifier: MIT
#include "csv/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <system_error>
#include <vector>

#include "csv/input.h"
#include "csv/text.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

using csv::Problems;
using csv::Row;
using schema::Column;
using testing::header;
using testing::test_row;

struct Read {
  std::vector<std::string> tests;
  std::vector<std::uint64_t> lines;
  std::string problems;
};

Read read(const std::string& text) {
  Read result;
  Problems problems;
  csv::read_csv_text(
      "f.csv", text,
      [&](const Row& row) {
        result.tests.emplace_back(row.text(Column::kTest));
        result.lines.push_back(row.line());
        return std::string();
      },
      problems);
  std::ostringstream out;
  problems.print(out);
  result.problems = out.str();
  return result;
}

using Names = std::vector<std::string>;
using Lines = std::vector<std::uint64_t>;

TEST(Reader, HandsOutEachRowWithItsLine) {
  const Read result = read(header() + test_row({{"test", "A"}}) + test_row({{"test", "B"}}));
  EXPECT_EQ(result.tests, (Names{"A", "B"}));
  EXPECT_EQ(result.lines, (Lines{2, 3}));
  EXPECT_EQ(result.problems, "");
}

TEST(Reader, ReadsALastRowWithoutALineFeed) {
  std::string text = header() + test_row({{"test", "A"}});
  text.pop_back();
  EXPECT_EQ(read(text).tests, Names{"A"});
}

TEST(Reader, GoesOnAfterAnOverLongLine) {
  const Read result = read(header() + std::string(csv::kMaxLineBytes + 1, 'x') + '\n' + test_row({{"test", "B"}}));
  EXPECT_EQ(result.tests, Names{"B"});
  EXPECT_EQ(result.lines, Lines{3});
  EXPECT_EQ(result.problems, "f.csv:2: longer than 1048576 bytes: not written by syscost\n");
}

TEST(Reader, SurvivesALineLongerThanTheReadersBlocks) {
  const Read result = read(header() + std::string(std::size_t{40} << 20, 'x') + '\n' + test_row({{"test", "B"}}));
  EXPECT_EQ(result.tests, Names{"B"});
}

TEST(Reader, NamesAnOverLongFirstLine) {
  EXPECT_EQ(read(std::string(csv::kMaxLineBytes + 1, 'x')).problems,
            "f.csv:1: the first line is not text: not a syscost CSV\n");
}

TEST(Reader, EndsAtALineWithoutAnEnd) {
  auto endless = [begin = header() + test_row({{"test", "A"}})](char* buffer, std::size_t size) mutable {
    const std::size_t left = std::min(size, begin.size());
    begin.copy(buffer, left);
    begin.erase(0, left);
    std::fill(buffer + left, buffer + size, 'x');
    return size;
  };
  Problems problems;
  std::size_t rows = 0;
  csv::read_csv(
      "f.csv", endless, [&](const Row&) { return ++rows, std::string(); }, problems);
  EXPECT_EQ(rows, 1U);
  std::ostringstream out;
  problems.print(out);
  EXPECT_EQ(out.str(), "f.csv:3: longer than 64 MiB: not written by syscost; what follows is not read\n");
}

TEST(Reader, EndsAtAFileThatIsOneEndlessLine) {
  Problems problems;
  csv::Input zero("/dev/zero");
  ASSERT_TRUE(zero.open(problems));
  csv::read_csv(
      zero.path(), zero.bytes(), [](const Row&) { return std::string(); }, problems);
  std::ostringstream out;
  problems.print(out);
  EXPECT_EQ(out.str(), "/dev/zero:1: the first line is not text: not a syscost CSV\n");
}

TEST(Reader, ReportsEveryLineThatIsNoRowWhereverItStands) {
  const std::string bad = "torn,by,a,crash\n";
  const Read result = read(header() + bad + bad + test_row({{"test", "A"}}) + bad + '\n' + bad +
                           test_row({{"test", "B"}}) + bad + bad + "not closed");
  EXPECT_EQ(result.tests, (Names{"A", "B"}));
  EXPECT_EQ(result.lines, (Lines{4, 8}));
  for (const char* line : {"2", "3", "5", "7", "9", "10", "11"}) {
    EXPECT_NE(result.problems.find(std::string("f.csv:") + line + ": the row stops before its last column"),
              std::string::npos)
        << line << '\n'
        << result.problems;
  }
  EXPECT_EQ(std::count(result.problems.begin(), result.problems.end(), '\n'), 7) << "an empty line is no row";
}

TEST(Reader, CountsBadLinesThatSpanTheReadersBlocks) {
  // Some begin in one request of the reader and end in the next, where they cannot be marked any more.
  std::string text = header();
  std::size_t bad = 0;
  for (; text.size() < (std::size_t{40} << 20); ++bad) text += std::string(3000 + bad % 7, 'b') + '\n';
  Problems problems;
  csv::read_csv_text(
      "f.csv", text, [](const Row&) { return std::string(); }, problems);
  EXPECT_EQ(problems.count(), bad);
}

TEST(Reader, KeepsRowsThatSpanTheReadersBlocks) {
  // 40 MiB in odd pieces: every block border of the reader is crossed in the middle of a row.
  std::string text = header();
  std::size_t rows = 0;
  for (; text.size() < (std::size_t{40} << 20); ++rows) {
    text += test_row({{"test", "T" + std::to_string(rows)}, {"label", std::string(3000 + rows % 7, 'l')}});
  }
  text.pop_back();
  Problems problems;
  std::size_t seen = 0;
  std::size_t position = 0;
  auto in_pieces = [&](char* buffer, std::size_t size) {
    const std::size_t piece = std::min({size, text.size() - position, std::size_t{100'003}});
    text.copy(buffer, piece, position);
    position += piece;
    return piece;
  };
  csv::read_csv(
      "f.csv", in_pieces,
      [&](const Row& row) {
        return row.text(Column::kTest) == "T" + std::to_string(seen++) ? std::string() : std::string("out of order");
      },
      problems);
  EXPECT_EQ(seen, rows);
  EXPECT_TRUE(problems.empty());
}

TEST(Reader, NamesTheLineOfAnUnclosedQuoteAndGoesOn) {
  const Read result = read(header() + test_row({{"test", "\"A"}}) + test_row({{"test", "B"}}));
  EXPECT_EQ(result.tests, Names{"B"});
  EXPECT_NE(result.problems.find("f.csv:2: a quote is not closed"), std::string::npos) << result.problems;
}

TEST(Reader, UnquotesCells) {
  EXPECT_EQ(read(header() + test_row({{"test", "\"a, \"\"b\"\"\""}})).tests, Names{"a, \"b\""});
}

// syscost writes none; an editor or a spreadsheet may.
TEST(Reader, PassesOverAnEmptyLine) {
  const Read result = read(header() + '\n' + test_row({{"test", "B"}}) + '\n');
  EXPECT_EQ(result.tests, Names{"B"});
  EXPECT_EQ(result.problems, "");
}

TEST(Reader, NamesTheFirstLinesOfManyAndCountsTheRest) {
  std::string text = header();
  for (int i = 0; i < 25; ++i) text += "junk\n";
  const Read result = read(text);
  EXPECT_NE(result.problems.find("f.csv:21: "), std::string::npos);
  EXPECT_EQ(result.problems.find("f.csv:22: "), std::string::npos);
  EXPECT_NE(result.problems.find("f.csv: 5 more bad lines, not named\n"), std::string::npos);
}

TEST(Problems, LeavesOutWhatAnotherReadingOfTheSameFileFound) {
  Problems first;
  Problems second;
  for (std::uint64_t line = 1; line <= 30; ++line) {
    first.add("f.csv", line, "bad");
    second.add("f.csv", line, "bad");
  }
  second.add("g.csv", 2, "torn");
  first.append_unnoted(second);
  EXPECT_EQ(first.count(), 31U);
  std::ostringstream out;
  first.print(out);
  EXPECT_NE(out.str().find("g.csv:2: torn\nf.csv: 10 more bad lines, not named\n"), std::string::npos) << out.str();
}

TEST(Problems, KeepsTheNumberOfUnnamedOnesOfAnotherFile) {
  Problems first;
  Problems second;
  for (std::uint64_t line = 1; line <= 30; ++line) second.add("g.csv", line, "bad");
  first.append_unnoted(second);
  EXPECT_EQ(first.count(), 30U);
  std::ostringstream out;
  first.print(out);
  std::string wanted;
  for (int line = 1; line <= 20; ++line) wanted += "g.csv:" + std::to_string(line) + ": bad\n";
  EXPECT_EQ(out.str(), wanted + "g.csv: 10 more bad lines, not named\n");

  first.append_unnoted(second);
  EXPECT_EQ(first.count(), 30U) << "a second reading of the same file";
}

TEST(Printable, ShowsControlCharactersAndLeavesTheRest) {
  EXPECT_EQ(csv::printable("a\x1b[0m\t\n\x7f"), R"(a\x1b[0m\x09\x0a\x7f)");
  EXPECT_EQ(csv::printable("\xC2\x9B"
                           "31m"),
            R"(\u009b31m)");
  EXPECT_EQ(csv::printable("Größe µs 中 😀 \xC2\xA0"), "Größe µs 中 😀 \xC2\xA0");
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(csv::printable("Gr\xF6\xDF"
                           "e"),
            R"(Gr\xf6\xdfe)");                                                     // Latin-1
  EXPECT_EQ(csv::printable("\xC2"), R"(\xc2)");                                    // cut short
  EXPECT_EQ(csv::printable("\xE4\xB8|\xF0\x9F\x98"), R"(\xe4\xb8|\xf0\x9f\x98)");  // cut short, too
  EXPECT_EQ(csv::printable("\xC0\xAF\xE0\x80\xAF"), R"(\xc0\xaf\xe0\x80\xaf)");    // longer than needed
  EXPECT_EQ(csv::printable("\xED\xA0\x80"), R"(\xed\xa0\x80)");                    // half of a pair
  EXPECT_EQ(csv::printable("\xF4\x90\x80\x80\xFF"), R"(\xf4\x90\x80\x80\xff)");    // beyond Unicode
}

TEST(Printable, ShowsWhatHasNoShapeOrTurnsTheTextAround) {
  EXPECT_EQ(csv::printable("a\u202Eb\u2066c\u200Bd\uFEFFe\u00ADf\u2028g\uFE0Fh\u3164i\U000E0041"),
            R"(a\u202eb\u2066c\u200bd\ufeffe\u00adf\u2028g\ufe0fh\u3164i\U000e0041)");
  // Their neighbours are seen.
  EXPECT_EQ(csv::printable("\u2010\u202F\u205F\u2070\uFE10\uFF9F\uFFFC\uFFFD"),
            "\u2010\u202F\u205F\u2070\uFE10\uFF9F\uFFFC\uFFFD");
}

TEST(Reader, TellsWhenReadingFails) {
  Problems problems;
  csv::read_csv(
      "f.csv", [](char*, std::size_t) -> std::size_t { throw std::system_error(EIO, std::generic_category()); },
      [](const Row&) { return std::string(); }, problems);
  std::ostringstream out;
  problems.print(out);
  EXPECT_EQ(out.str(), "f.csv: cannot be read: Input/output error\n");
}

TEST(Reader, TellsWhenAFileCannotBeOpened) {
  Problems problems;
  csv::Input nowhere("/nonexistent/f.csv");
  EXPECT_FALSE(nowhere.open(problems));
  std::ostringstream out;
  problems.print(out);
  EXPECT_EQ(out.str(), "/nonexistent/f.csv: cannot be opened: No such file or directory\n");
}

TEST(LineSource, HandsOutLinesThatComeByteByByte) {
  std::string text =
      "\xEF\xBB\xBF"
      "0123\r\n\n89";
  auto one_byte = [&text](char* buffer, std::size_t) -> std::size_t {
    if (text.empty()) return 0;
    *buffer = text[0];
    text.erase(0, 1);
    return 1;
  };
  csv::LineSource source(one_byte);
  std::vector<std::string> lines;
  for (csv::Line line; source.next(line);) {
    lines.emplace_back(line.text);
    EXPECT_EQ(line.number, lines.size());
    EXPECT_EQ(line.damage, csv::Damage::none);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"0123", "", "89"}));
}

TEST(Reader, HandsOutOneRowOfEachProgramOfOtherRuns) {
  std::string text = header();
  for (const char* run : {"r1", "r2", "r1"}) {
    for (const char* program : {"1", "2"}) {
      for (int row = 0; row < 3; ++row) text += test_row({{"run_id", run}, {"program", program}, {"test", "T"}});
    }
  }
  std::string rows;
  Problems problems;
  text += "torn\n";
  const auto bytes = [&, left = std::string_view(text)](char* buffer, std::size_t size) mutable {
    const std::size_t count = std::min(size, left.size());
    left.copy(buffer, count);
    left.remove_prefix(count);
    return count;
  };
  csv::read_csv(
      "f.csv", bytes,
      [&](const Row& row) {
        rows += fmt::format("{}/{} ", row.text(Column::kRunId), row.text(Column::kProgram));
        return std::string();
      },
      problems, "r2");
  EXPECT_EQ(rows, "r1/1 r1/2 r2/1 r2/1 r2/1 r2/2 r2/2 r2/2 r1/1 r1/2 ");
  EXPECT_EQ(problems.count(), 1U);
}

TEST(Reader, RefusesAFileOfAnotherVersionOnce) {
  const std::string row = test_row({{"schema_version", "10"}});
  const std::string fault =
      "f.csv:1: schema version 10, but this bench reads version 1: measure again with this syscost\n";
  const Read result = read(header() + row + row);
  EXPECT_EQ(result.tests, Names{});
  EXPECT_EQ(result.problems, fault);
  EXPECT_EQ(read("schema_version,run_id\n" + row).problems, fault) << "whatever its columns are";
}

TEST(Reader, SaysThatAFileEndsInsideItsHeader) {
  const std::string whole = header().substr(0, header().size() - 1);
  EXPECT_EQ(read(whole).problems, "") << "all of it is there";
  const std::string cut = whole.substr(0, whole.find(",selection") + 7);
  const std::string torn =
      "f.csv:1: the file ends inside its header, in column 11 (\"select\" of \"selection\"): torn by a crash, a full "
      "disk or a copy that stopped; copy it again, or measure again\n";
  EXPECT_EQ(read(cut).problems, torn);
  EXPECT_EQ(read("\xEF\xBB\xBF" + cut).problems, torn);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(read(whole.substr(0, size)).problems.find("f.csv:1: the file ends inside its header, in column "), 0U)
        << whole.substr(0, size);
  }
  // With a line end, or with another text, it is no cut.
  for (const std::string& other : {cut + '\n', cut + "ed", cut + '\n' + test_row()}) {
    EXPECT_NE(read(other).problems.find("where \"selection\" belongs: not a syscost CSV"), std::string::npos)
        << read(other).problems;
  }
}

TEST(Reader, SaysThatRowsOfAnotherVersionWereJoinedToAFile) {
  const std::string advice = ": files joined? Give bench a folder that holds them instead\n";
  const Read result = read(header() + test_row({{"test", "A"}}) + "schema_version,run_id,end\n4,r1,end\n");
  EXPECT_EQ(result.tests, Names{"A"});
  EXPECT_EQ(result.problems, "f.csv:3: a second header" + advice +
                                 "f.csv:4: a row of schema version 4 in a file of another one" + advice);
}

TEST(Reader, SplitsARowLikeTheOneBeforeWithTheSameKey) {
  const std::string key = R"("a,""b""")";
  const Read result =
      read(header() + test_row({{"test", key}}) + test_row({{"test", key}, {"detail", R"("x,y")"}}) +
           test_row({{"test", "A"}}) + test_row({{"test", "A"}, {"detail", R"("x,y")"}}) + test_row({{"test", "A"}}));
  EXPECT_EQ(result.tests, (Names{R"(a,"b")", R"(a,"b")", "A", "A", "A"}));
  EXPECT_EQ(result.problems, "");
}

}  // namespace
}  // namespace syscost::bench
