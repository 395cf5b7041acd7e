// SPDX-License-Identifier: MIT
#include "judge/comparability.h"

#include <gtest/gtest.h>

namespace syscost::bench::judge {
namespace {

PairCandidate test(const std::string& name, const std::string& program = "p") {
  return {name, program, true, "", {}};
}

/// A loop of the test that stands at `owner` in its side.
PairCandidate loop(const std::string& test, const std::string& name, std::size_t owner) {
  return {test + ", loop " + name, "p", false, name, owner};
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
  const Pairing pairing = pair_windows({test("A"), {"suite S, set-up", "p", false, "", {}}}, {test("B")}, {});
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

TEST(Pairing, KnowsABenchmarkByItsOwnName) {
  const std::vector<PairCandidate> old_side = {test("benchmark BM_Copy/8", "x"), test("A")};
  const std::vector<PairCandidate> new_side = {test("A"), test("benchmark BM_Move", "x"),
                                               test("benchmark BM_Move", "y")};
  const Pairing pairing = pair_windows(old_side, new_side, {{"BM_Copy/8", "BM_Move (y)"}});
  EXPECT_TRUE(pairing.faults.empty());
  EXPECT_EQ(pairing.pairs[0].new_index, 2U);
  EXPECT_EQ(pair_windows(old_side, new_side, {{"Copy/8", "A"}}).faults.size(), 1U) << "a part of a name is none";
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

TEST(Pairing, TakesTheLoopsOfTheOnlyTestsWithThem) {
  const Pairing pairing = pair_windows({test("A"), loop("A", "x", 0), loop("A", "y", 0)},
                                       {test("B"), loop("B", "y", 0), loop("B", "z", 0)}, {});
  ASSERT_TRUE(pairing.single.has_value());
  EXPECT_FALSE(pairing.pairs[1].new_index.has_value());
  EXPECT_EQ(pairing.pairs[2].new_index, 1U);
}

TEST(Pairing, TakesTheOnlyLoopOfTheOnlyTestsWhateverItsName) {
  const Pairing pairing = pair_windows({test("A"), loop("A", "x", 0)}, {test("B"), loop("B", "y", 0)}, {});
  EXPECT_EQ(pairing.pairs[1].new_index, 1U);
}

TEST(Pairing, TakesLoopsWithTestsThatWereAskedFor) {
  const Pairing pairing =
      pair_windows({test("A"), loop("A", "x", 0), test("C")}, {test("C"), test("B"), loop("B", "x", 1)}, {{"A", "B"}});
  EXPECT_EQ(pairing.pairs[0].new_index, 1U);
  EXPECT_EQ(pairing.pairs[1].new_index, 2U);
  EXPECT_EQ(pairing.pairs[2].new_index, 0U);
}

TEST(Pairing, GuessesNoLoopOfATestThatKeptItsName) {
  const Pairing pairing = pair_windows({test("A"), loop("A", "x", 0)}, {test("A"), loop("A", "y", 0)}, {});
  EXPECT_FALSE(pairing.pairs[1].new_index.has_value());
  EXPECT_EQ(pairing.pairs.size(), 3U);
}

stats::WindowSummary named(const std::string& name, const std::string& owner = "", std::string_view loop = "") {
  stats::WindowSummary window;
  window.name = name;
  window.owner = owner;
  window.loop = loop;
  return window;
}

TEST(ShownNames, CallTheOnlyLoopOfATestByItsTest) {
  const stats::WindowSummary whole = named("S.a");
  const stats::WindowSummary flush = named("S.a, loop f", "S.a", "f");
  const stats::WindowSummary probe = named("S.a, loop g", "S.a", "g");
  const std::vector<Comparison> one = {compare_windows(&whole, &whole, {}), compare_windows(&flush, &flush, {})};
  EXPECT_EQ(shown_names(one, {&one[1]}), std::vector<std::string>{"S.a"});
  EXPECT_EQ(shown_names(one, {&one[0], &one[1]}), (std::vector<std::string>{"S.a", "S.a, loop f"}));
  // Another loop, shown or not, would leave open which one is meant.
  const std::vector<Comparison> two = {compare_windows(&flush, &flush, {}), compare_windows(&probe, &probe, {})};
  EXPECT_EQ(shown_names(two, {&two[0]}), std::vector<std::string>{"S.a, loop f"});
  // Its test is not missing.
  const std::vector<Comparison> gone = {compare_windows(&flush, nullptr, {})};
  EXPECT_EQ(shown_names(gone, {gone.data()}), std::vector<std::string>{"S.a, loop f"});
}

TEST(PairName, KeepsTheLoopThatBothHave) {
  EXPECT_EQ(pair_name("S.a, loop f", "S.b, loop f"), "a -> b, loop f");
  EXPECT_EQ(pair_name("S.a, loop f", "S.b, loop g"), "a, loop f -> b, loop g");
}

TEST(PairName, DropsACommonSuite) {
  EXPECT_EQ(pair_name("S.a", "S.b"), "a -> b");
  EXPECT_EQ(pair_name("S.a", "T.b"), "S.a -> T.b");
  EXPECT_EQ(pair_name("S.a", "S.a"), "S.a");
}

}  // namespace
}  // namespace syscost::bench::judge
