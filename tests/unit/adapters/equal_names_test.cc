// SPDX-License-Identifier: MIT
#include "adapters/names/equal_names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace syscost::names {
namespace {

struct Registered {
  std::string name;
  TestPlace place;
};

EqualNames names_of(const std::vector<Registered>& tests) {
  EqualNames names;
  names.set_all(
      tests.size(), [&](std::size_t i) { return tests[i].name; }, [&](std::size_t i) { return tests[i].place; });
  return names;
}

TestPlace at(const std::string& file, std::uint64_t line, const void* object = nullptr) {
  return {object, file, line};
}

TEST(EqualNames, LeaveANameThatOneTestHas) {
  EqualNames names = names_of({{"a", at("f", 1)}, {"b", at("f", 2)}});
  EXPECT_EQ(names.of("a", at("f", 1)), "a");
  EXPECT_EQ(names.of("b", at("f", 2)), "b");
  EXPECT_EQ(names.of("b", at("f", 2)), "b") << "a repetition";
}

TEST(EqualNames, AreNumberedByFileAndLineWhateverRunsFirst) {
  const std::vector<Registered> tests = {{"a", at("g", 1)}, {"a", at("f", 9)}, {"a", at("f", 10)}};
  for (const std::size_t first : {0U, 1U, 2U}) {
    EqualNames names = names_of(tests);
    EXPECT_EQ(names.of("a", tests[first].place), (std::vector{"a#3", "a", "a#2"}[first]));
    EXPECT_EQ(names.of("a", at("f", 10)), "a#2");
    EXPECT_EQ(names.of("a", at("g", 1)), "a#3");
  }
}

TEST(EqualNames, TakeNoNameThatIsATestsOwn) {
  EqualNames names = names_of({{"a", at("f", 1)}, {"a", at("f", 2)}, {"a#2", at("f", 3)}, {"a#2", at("f", 4)}});
  EXPECT_EQ(names.of("a", at("f", 1)), "a");
  EXPECT_EQ(names.of("a", at("f", 2)), "a#3");
  EXPECT_EQ(names.of("a#2", at("f", 3)), "a#2");
  EXPECT_EQ(names.of("a#2", at("f", 4)), "a#2#2");
}

TEST(EqualNames, AreThoseThatLookTheSameInAFile) {
  const std::vector<std::vector<std::string>> equal = {
      {"a\n", "a\\n"},
      {"\xff\xfe", "\\xff\\xfe"},
      {std::string(1, '\0'), "\\0"},
      {"\r", "\\r"},
      {"zw\u200bx", "zw\\u200bx"},
      {"\u00ad", "\\u00ad"},
      {"\U000e0041", "\\U000e0041"},
  };
  for (const std::vector<std::string>& names : equal) {
    EqualNames all = names_of({{names[0], at("f", 1)}, {names[1], at("f", 2)}});
    EqualNames by_start;
    for (EqualNames* const one : {&all, &by_start}) {
      EXPECT_EQ(one->of(names[0], at("f", 1)), names[0]);
      EXPECT_EQ(one->of(names[1], at("f", 2)), names[1] + "#2");
    }
  }
  EqualNames others =
      names_of({{"a\\", at("f", 1)}, {"a\\\\", at("f", 2)}, {"a\\x", at("f", 3)}, {"a\\xg0", at("f", 4)}});
  EXPECT_EQ(others.of("a\\", at("f", 1)), "a\\");
  EXPECT_EQ(others.of("a\\\\", at("f", 2)), "a\\\\");
  EXPECT_EQ(others.of("a\\x", at("f", 3)), "a\\x");
  EXPECT_EQ(others.of("a\\xg0", at("f", 4)), "a\\xg0");
  EXPECT_EQ(others.of("a\\u20", at("f", 5)), "a\\u20");
  EXPECT_EQ(others.of("a\\U00110000", at("f", 6)), "a\\U00110000");
}

TEST(EqualNames, OfOneLineAreToldApartByTheirObjects) {
  const int one = 1;
  const int two = 2;
  EqualNames names = names_of({{"a", at("f", 1, &one)}, {"a", at("f", 1, &two)}});
  EXPECT_EQ(names.of("a", at("f", 1, &two)), "a#2");
  EXPECT_EQ(names.of("a", at("f", 1, &two)), "a#2");
  EXPECT_EQ(names.of("a", at("f", 1, &one)), "a");
}

TEST(EqualNames, OfOneLineWithoutObjectsTakeTurns) {
  EqualNames names = names_of({{"a", at("f", 1)}, {"a", at("f", 1)}});
  for (int repetition = 0; repetition < 2; ++repetition) {
    EXPECT_EQ(names.of("a", at("f", 1)), "a");
    EXPECT_EQ(names.of("a", at("f", 1)), "a#2");
  }
}

TEST(EqualNames, AreInTheOrderOfTheirFirstRunsWhereNotAllAreKnown) {
  EqualNames names;
  EXPECT_EQ(names.of("a", at("g", 7)), "a");
  EXPECT_EQ(names.of("a", at("f", 1)), "a#2");
  EXPECT_EQ(names.of("a", at("g", 7)), "a");
  EXPECT_EQ(names.of("a", at("f", 1)), "a#2");
  EXPECT_EQ(names.of("b", {}), "b");
  EXPECT_EQ(names.of("b", {}), "b") << "nothing says that it is another test";
}

TEST(EqualNames, AreNotGivenTwiceWhereNotAllAreKnown) {
  EqualNames names;
  EXPECT_EQ(names.of("a", at("f", 1)), "a");
  EXPECT_EQ(names.of("a", at("f", 2)), "a#2");
  EXPECT_EQ(names.of("a#2", at("f", 3)), "a#2#2");
  EXPECT_EQ(names.of("a#2", at("f", 3)), "a#2#2");
}
TEST(EqualNames, OfManyTestsAreFound) {
  std::vector<Registered> tests;
  for (int i = 0; i < 10'000; ++i) tests.push_back({"t" + std::to_string(i), at("f", 1)});
  tests.push_back({"t77", at("g", 1)});
  EqualNames names = names_of(tests);
  EXPECT_EQ(names.of("t76", at("f", 1)), "t76");
  EXPECT_EQ(names.of("t77", at("g", 1)), "t77#2");
}

}  // namespace
}  // namespace syscost::names
