// SPDX-License-Identifier: MIT
#include "commands/compare/count_rules.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;

/// The current folder is an empty one of its own.
class CountRules : public ::testing::Test {
 protected:
  CountRules() {
    std::string name = (fs::temp_directory_path() / "syscost-rules.XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fs::current_path(folder_);
  }
  ~CountRules() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  std::string read(const std::string& asked = {}) { return add_rules_of_file(asked, policy_, problems_).line; }
  std::string problems() const {
    std::ostringstream out;
    problems_.print(out);
    return out.str();
  }

  fs::path before_ = fs::current_path();
  fs::path folder_;
  judge::CountPolicy policy_;
  csv::Problems problems_;
};

TEST_F(CountRules, OfTheCurrentFolderAreFound) {
  EXPECT_EQ(read(), "") << "there is no file";
  std::ofstream("syscost.toml") << "volatile = [\"openat\"]\ntolerate = [\"read=5%\", \"write=2\"]\n";
  EXPECT_EQ(read(), "rules of syscost.toml: volatile openat; tolerate read=5%, write=2");
  EXPECT_TRUE(policy_.is_volatile("openat", "file"));
  EXPECT_EQ(policy_.tolerance_of("write", "").abs, 2);
  EXPECT_EQ(problems(), "");
}

TEST_F(CountRules, OfATestAreForItAlone) {
  std::ofstream("syscost.toml") << "tolerate = [\"read=5%\", { test = \"Net.*\", of = \"read\", by = 3 },\n"
                                   "            { test = [\"Log.*\", \"!Log.Reads\"], of = \"%file\", by = \"20%\" }]\n"
                                   "volatile = [{ test = \"Net.*\", of = \"getrandom\" }]\n";
  EXPECT_EQ(read(),
            "rules of syscost.toml: volatile getrandom in Net.*; tolerate read=5%, read=3 in Net.*, %file=20% in "
            "Log.*, !Log.Reads");
  EXPECT_EQ(problems(), "");
  const auto of = [&](std::string_view test) { return policy_.of({{"test", test, "tests"}}); };
  EXPECT_EQ(of("Net.Sends").tolerance_of("read", "").abs, 3);
  EXPECT_EQ(of("Log.Reads").tolerance_of("read", "").rel, 0.05);
  EXPECT_EQ(of("Log.Writes").tolerance_of("openat", "file").rel, 0.2);
  EXPECT_EQ(of("Log.Reads").tolerance_of("openat", "file").rel, 0);
  EXPECT_TRUE(of("Net.Sends").is_volatile("getrandom", ""));
  EXPECT_FALSE(of("Log.Reads").is_volatile("getrandom", ""));
  EXPECT_FALSE(policy_.is_volatile("getrandom", "")) << "not of every test";
}

TEST_F(CountRules, OfATestMayStandInTablesOfTheirOwn) {
  std::ofstream("syscost.toml")
      << "[[tolerate]]\nof = \"read\"\nby = \"5%\"\n\n[[tolerate]]\ntest = \"Net.*\"\nby = 1\n";
  EXPECT_EQ(read(), "rules of syscost.toml: tolerate read=5%, *=1 in Net.*");
  EXPECT_EQ(problems(), "");
}

TEST_F(CountRules, AreNotSpokenOfWhereAFileHasBudgetsOnly) {
  std::ofstream("syscost.toml") << "[[budget]]\nmeasure = \"calls\"\nmax = 5\n";
  EXPECT_EQ(read(), "");
  EXPECT_EQ(read("syscost.toml"), "rules of syscost.toml: none") << "who asks is answered";
}

TEST_F(CountRules, ThatWouldGateNothingByMistakeAreAProblem) {
  std::ofstream("rules.toml") << "volatile = [\"\"]\n";
  read("rules.toml");
  EXPECT_EQ(problems(), "rules.toml:1: volatile: a selector is empty; * means every syscall\n");
  EXPECT_FALSE(policy_.is_volatile("write", ""));
}

// A page that says other things than the gate would be believed.
TEST_F(CountRules, HoldInAReportAsInCompare) {
  const std::string data = SYSCOST_SOURCE_DIR "/tests/cli/data/";
  const auto of = [&](std::vector<std::string> arguments, const std::vector<std::string>& rules) {
    for (const char* side : {"intended_old.csv", "intended_new.csv"}) arguments.push_back(data + side);
    arguments.insert(arguments.end(), rules.begin(), rules.end());
    std::ostringstream out;
    std::ostringstream err;
    bench_main(arguments, out, err);
    EXPECT_EQ(err.str(), "");
    return out.str();
  };
  const auto expect_the_same = [&](const std::vector<std::string>& rules, const std::string& verdict) {
    const std::string text = of({"compare"}, rules);
    EXPECT_EQ(text.substr(0, text.find('\n')), "verdict: " + verdict);
    std::vector<std::string> to_page = rules;
    to_page.insert(to_page.end(), {"-o", "-"});
    EXPECT_NE(of({"report", "--compare"}, to_page).find(verdict), std::string::npos) << verdict;
  };
  expect_the_same({}, "red, exit code 1: 3 tests fail: 3 by counts");
  expect_the_same({"--config", data + "accept.toml"}, "red, exit code 1: 1 test fails: 1 by counts");
  expect_the_same({"--accept-from", data + "commits.txt"}, "red, exit code 1: 1 test fails: 1 by counts");
  fs::copy_file(data + "accept.toml", "syscost.toml");
  expect_the_same({}, "red, exit code 1: 1 test fails: 1 by counts");
}

TEST_F(CountRules, OfAFileThatIsWrongAreAProblem) {
  std::ofstream("rules.toml") << "volatile = [\"/(/\"]\n";
  read("rules.toml");
  EXPECT_NE(problems().find("rules.toml"), std::string::npos) << problems();
  read("missing.toml");
  EXPECT_NE(problems().find("missing.toml: cannot be opened"), std::string::npos) << problems();
}

}  // namespace
}  // namespace syscost::bench::commands
