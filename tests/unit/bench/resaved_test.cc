// SPDX-License-Identifier: MIT
//
// A CSV of ours that another program opened and saved: it is read where there is no doubt, and else a message says why
// not.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

#include "../csv/temporary_folder.h"
#include "bench.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

/// A run whose label needs quotes.
std::string original() {
  return testing::header() + testing::test_row({{"total_calls", "3"}, {"label", "\"a, b\""}}) +
         testing::syscall_row({{"calls", "3"}, {"label", "\"a, b\""}});
}

/// The cells of a line without a comma in quotes, each as `cell` makes it.
std::string joined(const std::string& line, const std::string& separator,
                   const std::function<std::string(std::string)>& cell) {
  std::string out;
  std::string word;
  bool is_quoted = false;
  for (const char c : line + ",") {
    if (c == '"') is_quoted = !is_quoted;
    if (c != ',' || is_quoted) {
      if (c != '"') word += c;
      continue;
    }
    out += (out.empty() ? "" : separator) + cell(word);
    word.clear();
  }
  return out;
}

class Resaved : public ::testing::Test {
 protected:
  /// With each line through `line`, and `end` between the lines.
  static std::string saved(const std::function<std::string(const std::string&)>& line, const std::string& end = "\n") {
    std::istringstream lines(original());
    std::string out;
    for (std::string one; std::getline(lines, one);) out += line(one) + end;
    return out;
  }
  int summary(const std::string& text) {
    out_.str("");
    err_.str("");
    std::ofstream(folder_.file("run.csv")) << text;
    return bench_main({"summary", folder_.file("run.csv"), "--format", "csv"}, out_, err_);
  }

  syscost::testing::TemporaryFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

std::string quoted(const std::string& cell) {
  return '"' + cell + '"';
}

TEST_F(Resaved, IsReadWithQuotesAroundEachCell) {
  ASSERT_EQ(summary(original()), 0) << err_.str();
  const std::string expected = out_.str();
  const auto quote_all = [](const std::string& line) { return joined(line, ",", quoted); };
  EXPECT_EQ(summary(saved(quote_all)), 0) << err_.str();
  EXPECT_EQ(out_.str(), expected);
  EXPECT_EQ(summary("\xEF\xBB\xBF" + saved(quote_all, "\r\n")), 0) << err_.str();
  EXPECT_EQ(out_.str(), expected);
  // Text alone, as spreadsheets offer.
  const auto quote_text = [](const std::string& line) {
    return joined(line, ",", [](const std::string& cell) {
      return cell.empty() || cell.find_first_not_of("0123456789") == std::string::npos ? cell : quoted(cell);
    });
  };
  EXPECT_EQ(summary(saved(quote_text)), 0) << err_.str();
  EXPECT_EQ(out_.str(), expected);
}

TEST_F(Resaved, MayHaveEmptyLines) {
  EXPECT_EQ(summary(original() + "\n"), 0) << err_.str();
  EXPECT_EQ(summary(original() + "\r\n\r\n"), 0) << err_.str();
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(summary(original() + "9,r1,2026"), 2) << "a torn row is none";
}

TEST_F(Resaved, WithOtherSeparatorsIsRefusedInAWord) {
  for (const auto& [separator, word] : {std::pair(";", "semicolons"), std::pair("\t", "tabs")}) {
    const auto with = [separator = std::string(separator)](const std::string& cell_or_quote) {
      return saved([&](const std::string& line) {
        return joined(line, separator, [&](const std::string& cell) { return cell_or_quote + cell + cell_or_quote; });
      });
    };
    for (const std::string quote : {"", "\""}) {
      EXPECT_EQ(summary(with(quote)), 2);
      EXPECT_NE(err_.str().find(std::string("its columns are separated by ") + word), std::string::npos) << err_.str();
    }
  }
}

// Files above this size are read in parts, by threads.
TEST_F(Resaved, IsReadAlsoWhereItIsLarge) {
  const std::string header = joined(testing::header().substr(0, testing::header().size() - 1), ",", quoted) + '\n';
  std::ofstream file(folder_.file("large.csv"));
  file << header;
  constexpr int kTests = 30'000;
  for (int i = 0; i < kTests; ++i) {
    const std::string row = testing::test_row({{"test", "S.T" + std::to_string(i)}, {"total_calls", "0"}});
    file << joined(row.substr(0, row.size() - 1), ",", quoted) << '\n';
  }
  file.close();
  EXPECT_EQ(bench_main({"summary", folder_.file("large.csv")}, out_, err_), 0) << err_.str();
  EXPECT_NE(out_.str().find("30000 tests"), std::string::npos) << out_.str().substr(0, 300);
}

}  // namespace
}  // namespace syscost::bench
