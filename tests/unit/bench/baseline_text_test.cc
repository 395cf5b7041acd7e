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
  const std::string head = "syscost baseline\t1\nruns\t1\n\n";
  const std::string window = "p\tS.T\t-\twindow\ttest passed 1\n";
  for (const auto& [text, fault] : std::vector<std::pair<std::string, std::string>>{
           {"", "the file is empty"},
           {"schema_version,run_id\n", ":1: not a baseline"},
           {"syscost baseline\t2\n", ":1: baseline version 2, but this bench reads version 1: measure again"},
           {head + "p\tS.T\twrite\tcalls\t1\n", ":4: no `window` line"},
           {head + window + "p\tS.T\twrite\tcalls\t-1\n", ":5: \"-1\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\t3..2..4\n", ":5: \"3..2..4\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\tnan\n", ":5: \"nan\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\n", ":5: 4 fields"},
           {head + window + "p\tS.T\twrite\tcalls\t1\np\tS.T\twrite\tcalls\t1\n", ":6: write calls of this test"},
           {head + window + window, ":5: this test stands twice"},
           {head + window + "p\tS.T\twri", "the file is torn"},
           {head + "p\tS.T\t-\twindow\ttest crashed 1\n", ":4: \"test crashed 1\""},
           {head + "p\tS.T\t-\twindow\ttest passed 0\n", ":4: \"test passed 0\""}}) {
    csv::Problems problems;
    EXPECT_FALSE(model::parse_baseline("it", text, problems).has_value()) << text;
    std::ostringstream said;
    problems.print(said);
    EXPECT_NE(said.str().find(fault), std::string::npos) << text << said.str();
  }
}

}  // namespace
}  // namespace syscost::bench
