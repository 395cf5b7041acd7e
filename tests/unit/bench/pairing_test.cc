// SPDX-License-Identifier: MIT
#include "stats/pairing.h"

#include <gtest/gtest.h>

namespace syscost::bench::stats {
namespace {

PairCandidate test(const std::string& name, const std::string& program = "p") {
  return {name, program, true};
}

TEST(Pairing, PairsByNameAndKeepsEveryTest) {
  const Pairing pairing = pair_windows({test("A"), test("B"), test("C")}, {test("C"), test("A"), test("D")}, {});
  ASSERT_EQ(pairing.pairs.size(), 4U);
  EXPECT_EQ(pairing.pairs[0].new_index, 1U);
  EXPECT_FALSE(pairing.pairs[1].new_index.has_value());
  EXPECT_EQ(pairing.pairs[2].new_index, 0U);
  EXPECT_FALSE(pairing.pairs[3].old_index.has_value());
}

TEST(Pairing, PairsTheOnlyTestOfEachSide) {
  const Pairing pairing = pair_windows({test("A"), {"suite S, set-up", "p", false}}, {test("B")}, {});
  ASSERT_TRUE(pairing.single.has_value());
  EXPECT_EQ(pairing.pairs[0].new_index, 0U);
}

TEST(Pairing, GuessesNothingWhereASideHasTwoTests) {
  const Pairing pairing = pair_windows({test("A")}, {test("B"), test("C")}, {});
  EXPECT_FALSE(pairing.single.has_value());
  EXPECT_EQ(pairing.pairs.size(), 3U);
}

TEST(Pairing, DoesNotMentionTheOnlyTestsWhenTheirNamesAgree) {
  EXPECT_FALSE(pair_windows({test("A")}, {test("A")}, {}).single.has_value());
}

TEST(Pairing, TellsEqualNamesApartByProgram) {
  const Pairing pairing = pair_windows({test("A", "x"), test("A", "y")}, {test("A", "y"), test("A", "x")}, {});
  EXPECT_EQ(pairing.pairs[0].new_index, 1U);
  EXPECT_EQ(pairing.pairs[1].new_index, 0U);
}

TEST(Pairing, PairsByNameWhenTheProgramWasRenamed) {
  EXPECT_EQ(pair_windows({test("A", "x"), test("B", "x")}, {test("A", "z")}, {}).pairs[0].new_index, 0U);
}

TEST(Pairing, GuessesNoProgramWhereSeveralHaveTheTest) {
  const Pairing pairing = pair_windows({test("A", "x"), test("A", "y")}, {test("A", "z")}, {});
  EXPECT_FALSE(pairing.pairs[0].new_index.has_value());
  EXPECT_FALSE(pairing.pairs[1].new_index.has_value());
}

TEST(Pairing, TakesAProgramWithTheNameThatWasAskedFor) {
  const Pairing pairing =
      pair_windows({test("A", "x"), test("A", "y")}, {test("A", "x"), test("A", "y")}, {{"A (y)", "A (x)"}});
  EXPECT_TRUE(pairing.faults.empty());
  EXPECT_EQ(pairing.pairs[1].new_index, 0U);
  EXPECT_FALSE(pairing.pairs[0].new_index.has_value());
}

TEST(Pairing, TakesWhatWasAskedBeforeNames) {
  const Pairing pairing = pair_windows({test("A"), test("B")}, {test("A"), test("B")}, {{"A", "B"}});
  EXPECT_EQ(pairing.pairs[0].new_index, 1U);
  EXPECT_FALSE(pairing.pairs[1].new_index.has_value());
}

TEST(Pairing, RefusesATestAskedForTwice) {
  EXPECT_EQ(pair_windows({test("A")}, {test("B"), test("C")}, {{"A", "B"}, {"A", "C"}}).faults.size(), 1U);
}

TEST(PairName, DropsACommonSuite) {
  EXPECT_EQ(pair_name("S.a", "S.b"), "a -> b");
  EXPECT_EQ(pair_name("S.a", "T.b"), "S.a -> T.b");
  EXPECT_EQ(pair_name("S.a", "S.a"), "S.a");
}

}  // namespace
}  // namespace syscost::bench::stats
