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

std::set<std::string, std::less<>> reordered(const std::string& rows) {
  const testing::Loaded loaded = testing::load(rows);
  EXPECT_EQ(loaded.problems, "");
  return reordered_programs({&loaded.data});
}

TEST(TestOrder, IsOneWhereCommonTestsAreInOneOrder) {
  EXPECT_TRUE(reordered(process("1", {"A", "B", "C"})).empty());
  EXPECT_TRUE(reordered(process("1", {"A", "B", "C"}) + process("2", {"A", "New", "C", "Last"})).empty());
  EXPECT_TRUE(reordered(process("1", {"A", "C"}) + process("2", {"B"}) + process("3", {"C", "D"})).empty());
  EXPECT_TRUE(reordered(process("1", {"A", "B"}, "p") + process("2", {"B", "A"}, "q")).empty());
}

TEST(TestOrder, IsNotWhereTwoProcessesDiffer) {
  EXPECT_EQ(reordered(process("1", {"A", "B", "C"}) + process("2", {"C", "A", "B"})),
            (std::set<std::string, std::less<>>{"p"}));
  EXPECT_EQ(reordered(process("1", {"A", "B", "C"}) + process("2", {"C", "B"}) + process("3", {"A", "C"})),
            (std::set<std::string, std::less<>>{"p"}));
}

TEST(TestOrder, OfTwoRunsIsHeldAgainstEachOther) {
  const testing::Loaded before = testing::load(process("1", {"A", "B"}));
  const testing::Loaded after = testing::load(process("1", {"B", "A"}));
  EXPECT_TRUE(reordered_programs({&before.data}).empty());
  EXPECT_EQ(reordered_programs({&before.data, &after.data}).size(), 1U);
}

}  // namespace
}  // namespace syscost::bench::model
