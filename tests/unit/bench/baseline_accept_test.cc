// SPDX-License-Identifier: MIT
//
// check --accept: the lines of some tests are written anew, and no other byte of the baseline changes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "baseline_file.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

std::vector<std::string> lines_of(const std::string& text, const std::string& part, bool with) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if ((line.find(part) != std::string::npos) == with) lines.push_back(line);
  }
  return lines;
}

TEST_F(BaselineFile, TakesTheLinesOfOneTest) {
  ASSERT_EQ(update({make_run("a", 3, 5), make_run("b", 3, 5)}), 0) << err_.str();
  const std::string before = text();
  EXPECT_EQ(check(make_run("c", 4, 8), {"--accept", "S.One"}), 1) << "S.Two is still red: " << err_.str();
  EXPECT_EQ(out_.str(), "wrote into " + baseline() +
                            "; read its diff before you commit it:\n  S.One: regressed, +1 write\n"
                            "still red: 1 test: S.Two regressed\n");
  EXPECT_EQ(lines_of(text(), "S.One", false), lines_of(before, "S.One", false));
  EXPECT_NE(text().find("tests\tS.One\twrite\tcalls\t4\n"), std::string::npos) << text();
  EXPECT_EQ(check(path("c.csv"), {"--accept", "S.T*", "--accept", "S.One"}), 0) << out_.str();
  EXPECT_EQ(check(path("c.csv")), 0) << out_.str();
}

TEST_F(BaselineFile, KeepsEveryOtherByteWhereAPersonEditedIt) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  std::string before = text();
  // A comment in the head, and lines in an order of their own.
  before.insert(before.find("runs\t"), "# by hand\n");
  const std::size_t two = before.find("tests\tS.Two");
  const std::string block = before.substr(two);
  before.erase(two);
  before.insert(before.find("tests\tS.One"), block + "\n");
  std::ofstream(baseline()) << before;
  ASSERT_EQ(check(make_run("same", 3, 5)), 0) << err_.str();
  EXPECT_EQ(check(make_run("c", 3, 7), {"--accept", "S.Two"}), 0) << err_.str();
  EXPECT_EQ(lines_of(text(), "S.Two", false), lines_of(before, "S.Two", false));
  EXPECT_EQ(check(path("c.csv")), 0) << out_.str() << text();
}

TEST_F(BaselineFile, TakesANewTestAtItsPlace) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string whole = text();
  std::string without = whole;
  without.erase(without.find("tests\tS.One"), without.find("tests\tS.Two") - without.find("tests\tS.One"));
  std::ofstream(baseline()) << without;
  EXPECT_EQ(check(path("a.csv"), {"--accept", "S.One"}), 0) << err_.str();
  EXPECT_EQ(text(), whole);
  EXPECT_NE(out_.str().find("  S.One: new\nnothing else is red\n"), std::string::npos) << out_.str();
}

TEST_F(BaselineFile, TakesTheClassesOfNewSyscalls) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string file = path("brk.csv");
  const testing::Cells key = {{"run_id", "c"}, {"test", "S.One"}};
  testing::Cells totals = key;
  totals.insert({{"total_calls", "4"}, {"total_entries", "4"}});
  const auto calls = [&](const std::string& name, const std::string& classes, const std::string& count) {
    testing::Cells cells = key;
    cells.insert({{"syscall", name}, {"class", classes}, {"calls", count}, {"entries", count}});
    return testing::syscall_row(cells);
  };
  std::ofstream(file) << testing::header() << testing::test_row(totals) << calls("write", "desc", "3")
                      << calls("brk", "memory;volatile", "1");
  EXPECT_EQ(check(file, {"--accept", "S.One"}), 1) << "S.Two is missing: " << err_.str();
  EXPECT_LT(text().find("class\tbrk\tmemory;volatile\n"), text().find("class\twrite\tdesc\n")) << text();
  EXPECT_EQ(check(file, {"--accept", "S.Two"}), 0) << err_.str();
  EXPECT_EQ(check(file), 0) << out_.str();
  EXPECT_EQ(check(file, {"--update"}), 0) << "it is the file that --update writes";
  EXPECT_NE(out_.str().find("is up to date"), std::string::npos) << out_.str() << text();
}

TEST_F(BaselineFile, LosesATestByItsNameAlone) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string before = text();
  const std::string file = path("one.csv");
  std::ifstream from(make_run("c", 3, 5));
  std::ofstream to(file);
  for (std::string line; std::getline(from, line);) {
    if (line.find("S.Two") == std::string::npos) to << line << '\n';
  }
  to.close();
  EXPECT_EQ(check(file, {"--accept", "S.*"}), 1) << "a part of the tests may have run";
  EXPECT_NE(out_.str().find("1 of these tests is not in the run; --accept NAME, without * and ?, removes one\n"
                            "still red: 1 test: S.Two missing\n"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(text(), before);
  EXPECT_EQ(check(file, {"--accept", "S.Two"}), 0) << out_.str();
  EXPECT_NE(out_.str().find("  S.Two: removed, the run does not have it\n"), std::string::npos) << out_.str();
  EXPECT_EQ(lines_of(text(), "S.Two", true), std::vector<std::string>());
}

TEST_F(BaselineFile, IsNotWrittenForATestThatFailed) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string before = text();
  const std::string failed = make_run("failed", 4, 6, 0, "failed");
  EXPECT_EQ(check(failed, {"--accept", "S.One"}), 2) << out_.str();
  EXPECT_NE(err_.str().find("--allow-failed"), std::string::npos) << err_.str();
  EXPECT_EQ(check(make_run("lost", 4, 5, 0, "passed", 7), {"--accept", "S.One"}), 2) << out_.str();
  EXPECT_EQ(text(), before);
  EXPECT_EQ(check(failed, {"--accept", "S.One", "--allow-failed"}), 1) << out_.str();
  EXPECT_NE(text().find("S.One\t-\twindow\ttest failed 1\n"), std::string::npos) << text();
  EXPECT_NE(out_.str().find("still red: 1 test: S.Two errored\n"), std::string::npos) << out_.str();
}

TEST_F(BaselineFile, IsNotWrittenForANameThatNoTestHas) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string before = text();
  EXPECT_EQ(check(make_run("c", 4, 6), {"--accept", "S.One", "--accept", "S.Too"}), 2) << out_.str();
  EXPECT_NE(err_.str().find("--accept S.Too: no test has this name; did you mean S.Two"), std::string::npos)
      << err_.str();
  EXPECT_EQ(text(), before);
}

TEST_F(BaselineFile, IsNotWrittenWhereNothingChanged) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const auto before = fs::last_write_time(baseline());
  EXPECT_EQ(check(make_run("c", 3, 6), {"--accept", "S.One"}), 1) << out_.str();
  EXPECT_NE(out_.str().find("no count of these tests changed\nstill red: 1 test: S.Two regressed\n"), std::string::npos)
      << out_.str();
  EXPECT_EQ(fs::last_write_time(baseline()), before);
}

// A line without errnos would say that no call failed.
TEST_F(BaselineFile, IsNotWrittenByARunThatKnowsLess) {
  ASSERT_EQ(update({make_run("a", 3, 5, 1)}), 0) << err_.str();
  const std::string before = text();
  const std::string knows_less = without(make_run("c", 4, 5), "d", {"errors", "errnos", "total_errors"});
  EXPECT_EQ(check(knows_less, {"--accept", "S.One"}), 2) << out_.str();
  EXPECT_NE(err_.str().find("S.One: which calls failed is in the baseline and not in the run"), std::string::npos)
      << err_.str();
  EXPECT_EQ(text(), before);
}

TEST_F(BaselineFile, TakesATestThatExchangedItsCalls) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  std::string file = make_run("c", 3, 5);
  std::ifstream from(file);
  std::string all((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
  for (std::size_t at = 0; (at = all.find(",write,", at)) != std::string::npos; ++at) all.replace(at, 7, ",writev,");
  std::ofstream(file) << all;
  EXPECT_EQ(check(file), 0) << out_.str();
  EXPECT_NE(out_.str().find("exchanged"), std::string::npos) << "shown: " << out_.str();
  EXPECT_EQ(check(file, {"--accept", "S.One"}), 0) << err_.str();
  EXPECT_NE(text().find("S.One\twritev\tcalls\t3\n"), std::string::npos) << text();
  EXPECT_NE(text().find("S.Two\twrite\tcalls\t5\n"), std::string::npos) << text();
}

TEST_F(BaselineFile, AcceptsWhatItsProjectSays) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string file = make_run("c", 4, 6);
  std::ofstream(path("rules.toml"))
      << "[[accept]]\ntest = \"S.One\"\nwhat = \"+1 write\"\nreason = \"one line more\"\n";
  EXPECT_EQ(check(file, {"--budgets", path("rules.toml")}), 1) << out_.str();
  EXPECT_NE(out_.str().find("1 regressed, 1 accepted"), std::string::npos) << out_.str();
  std::ofstream(path("log")) << "Syscost-Accept: S.Two -- both\n";
  EXPECT_EQ(check(file, {"--budgets", path("rules.toml"), "--accept-from", path("log")}), 0) << out_.str();
  EXPECT_EQ(check(file, {"--update"}), 0) << err_.str();
  EXPECT_EQ(check(file, {"--budgets", path("rules.toml")}), 0) << out_.str();
  EXPECT_NE(out_.str().find("matched nothing: the base has it, remove it"), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace syscost::bench
