// SPDX-License-Identifier: MIT
//
// Tests that failed and were tried again in the same run: `ctest --repeat until-pass`.
#include "judge/several_processes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../csv/temporary_folder.h"
#include "bench.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

/// Process and outcome of a test that makes `calls` calls.
struct Attempt {
  std::string pid;
  std::string outcome;
  int calls = 3;
  std::string repetition = "0";
};

class Retries : public ::testing::Test {
 protected:
  std::string run(const std::string& name, const std::vector<Attempt>& attempts) const {
    std::ofstream file(folder_.file(name));
    file << testing::header();
    for (const Attempt& one : attempts) {
      const testing::Cells key = {{"run_id", name}, {"pid", one.pid}, {"repetition", one.repetition}};
      testing::Cells totals = key;
      totals.insert({{"outcome", one.outcome}, {"total_calls", std::to_string(one.calls)}});
      testing::Cells calls = key;
      calls.emplace("calls", std::to_string(one.calls));
      file << testing::test_row(totals) << testing::syscall_row(calls);
    }
    return folder_.file(name);
  }
  int compare(const std::vector<Attempt>& now, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"compare", run("old", {{"1", "passed"}}), run("new", now)};
    args.insert(args.end(), more.begin(), more.end());
    out_.str("");
    return bench_main(args, out_, err_);
  }
  bool has(const std::string& words) const { return out_.str().find(words) != std::string::npos; }

  syscost::testing::TemporaryFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Retries, AreRedAndNamedUntilTheUserAllowsThem) {
  const std::vector<Attempt> retried = {{"7", "failed", 90}, {"8", "failed", 90}, {"9", "passed"}};
  EXPECT_EQ(compare(retried), 1);
  EXPECT_TRUE(has("failed in NEW and passed in a later process")) << out_.str();
  EXPECT_TRUE(
      has("warning: 1 test failed in NEW and passed in a later process, as with ctest --repeat until-pass: "
          "--allow retried judges it by that one"))
      << out_.str();
  EXPECT_EQ(compare(retried, {"--allow", "retried"}), 0) << out_.str();
  EXPECT_TRUE(has("1 same")) << "the counts of the last process: " << out_.str();
  EXPECT_TRUE(has("NEW: the failed attempts of 1 test are left out, because a later process passed: Suite.Test"))
      << out_.str();
  EXPECT_EQ(compare({{"7", "failed", 90}, {"8", "passed", 4}}, {"--allow", "retried"}), 1)
      << "one more call: " << out_.str();
}

TEST_F(Retries, AreNoneWhereTheLastProcessFails) {
  EXPECT_EQ(compare({{"7", "passed"}, {"8", "failed"}}, {"--allow", "retried"}), 1);
  EXPECT_FALSE(has("later process")) << out_.str();
}

// --gtest_repeat runs the test again whether it passed or not.
TEST_F(Retries, AreNoneWithinAProcess) {
  EXPECT_EQ(compare({{"7", "failed", 3, "0"}, {"7", "passed", 3, "1"}}, {"--allow", "retried"}), 1);
  EXPECT_FALSE(has("later process")) << out_.str();
}

}  // namespace
}  // namespace syscost::bench
