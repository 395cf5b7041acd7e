// SPDX-License-Identifier: MIT
//
// Faults in the text of a baseline.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/baseline.h"

namespace syscost::bench {
namespace {

TEST(ParseBaseline, NamesTheLineThatIsWrong) {
  const std::string head = "syscost baseline\t2\nruns\t1\n\n";
  const std::string window = "p\tS.T\t-\twindow\ttest passed 1\n";
  for (const auto& [text, fault] : std::vector<std::pair<std::string, std::string>>{
           {"", "the file is empty"},
           {"schema_version,run_id\n", ":1: not a baseline"},
           {"syscost baseline\t4\n", ":1: a baseline of format 4"},
           {head + "p\tS.T\twrite\tcalls\t1\n", ":4: no `window` line"},
           {head + window + "p\tS.T\twrite\tcalls\t-1\n", ":5: \"-1\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\t3..2..4\n", ":5: \"3..2..4\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\tnan\n", ":5: \"nan\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\n", ":5: 4 fields"},
           {head + window + "p\tS.T\twrite\tcalls\t1\np\tS.T\twrite\tcalls\t1\n", ":6: write calls of this test"},
           {head + window + window, ":5: this test stands twice"},
           {head + window + "p\tS.T\twri", "the file is torn"},
           {head + "p\tS.T\t-\twindow\ttest passed 0\n", ":4: \"test passed 0\""}}) {
    csv::Problems problems;
    EXPECT_FALSE(model::parse_baseline("it", text, problems).has_value()) << text;
    std::ostringstream said;
    problems.print(said);
    EXPECT_NE(said.str().find(fault), std::string::npos) << text << said.str();
  }
}

TEST(ParseBaseline, ReadsFormatOneInTheWordsOfToday) {
  const std::string before =
      "syscost baseline\t1\nkernel\t6.1.0\nruns\t1\n\np\tB\t-\twindow\tbenchmark passed 1\n"
      "p\tB\topenat\tfixed\t3\np\tB\topenat\tfixed ENOENT\t2\n";
  csv::Problems problems;
  const auto baseline = model::parse_baseline("it", before, problems);
  ASSERT_TRUE(baseline.has_value());
  const std::string now = model::to_text(*baseline);
  EXPECT_EQ(now.find("syscost baseline\t2\n"), 0U) << now;
  EXPECT_NE(now.find("\nkernel release\t6.1.0\n"), std::string::npos) << now;
  EXPECT_NE(now.find("\np\tB\topenat\tper_run\t3\np\tB\topenat\tper_run ENOENT\t2\n"), std::string::npos) << now;
  EXPECT_EQ(now.find("fixed"), std::string::npos) << now;
}

}  // namespace
}  // namespace syscost::bench
