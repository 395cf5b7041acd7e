// SPDX-License-Identifier: MIT
#include "model/test_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loaded.h"

namespace syscost::bench::model {
namespace {

using testing::Cells;

/// The tests of one process, in their order.
std::string process(const std::string& pid, const std::vector<std::string>& tests, const std::string& program = "p") {
  std::string rows;
  for (const std::string& test : tests) {
    rows += testing::test_row({{"pid", pid}, {"program", program}, {"test", test}});
  }
  return rows;
}

/// The reordered tests of program p.
std::set<std::string> reordered(const std::string& rows) {
  const testing::Loaded loaded = testing::load(rows);
  EXPECT_EQ(loaded.problems, "");
  std::set<std::string> tests;
  for (const auto& [program, test] : reordered_tests({&loaded.data})) {
    EXPECT_EQ(program, "p");
    tests.insert(test);
  }
  return tests;
}

TEST(TestOrder, IsOneWhereTheSameCommonTestsRanBefore) {
  EXPECT_TRUE(reordered(process("1", {"A", "B", "C"})).empty());
  EXPECT_TRUE(reordered(process("1", {"A", "B", "C"}) + process("2", {"A", "New", "C", "Last"})).empty());
  EXPECT_TRUE(reordered(process("1", {"A", "C"}) + process("2", {"B"}) + process("3", {"C", "D"})).empty());
  EXPECT_TRUE(reordered(process("1", {"A", "B"}, "p") + process("2", {"B", "A"}, "q")).empty());
}

TEST(TestOrder, IsAnotherForTheTestsThatOthersRanBefore) {
  using Tests = std::set<std::string>;
  EXPECT_EQ(reordered(process("1", {"A", "B", "C"}) + process("2", {"C", "A", "B"})), (Tests{"A", "B", "C"}));
  EXPECT_EQ(reordered(process("1", {"A", "B", "C", "D"}) + process("2", {"A", "C", "B", "D"})), (Tests{"B", "C"}));
  EXPECT_EQ(reordered(process("1", {"A", "B"}) + process("2", {"C", "D"}) + process("3", {"D", "C"})),
            (Tests{"C", "D"}));
}

TEST(TestOrder, OfTwoRunsIsHeldAgainstEachOther) {
  const testing::Loaded before = testing::load(process("1", {"A", "B"}));
  const testing::Loaded after = testing::load(process("1", {"B", "A"}));
  EXPECT_TRUE(reordered_tests({&before.data}).empty());
  EXPECT_EQ(reordered_tests({&before.data, &after.data}).size(), 2U);
}

}  // namespace
}  // namespace syscost::bench::model
