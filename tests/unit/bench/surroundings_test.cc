// SPDX-License-Identifier: MIT
#include "model/programs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/shared/run_notes.h"
#include "csv_text.h"
#include "loaded.h"

namespace syscost::bench {
namespace {

using model::changed_facts;
using model::facts_of;
using testing::load;
using testing::Loaded;
using testing::run_row;
using testing::test_row;

/// A run of the program `tests` with these surroundings.
Loaded run(const std::string& surroundings) {
  return load(run_row({{"detail", surroundings}}) + test_row());
}

TEST(Surroundings, OfARunAreNoWindowOfIt) {
  const Loaded loaded = run("cpus=2;locale=C");
  EXPECT_EQ(loaded.problems, "");
  EXPECT_EQ(loaded.data.samples.size(), 1U);
  EXPECT_EQ(facts_of(loaded.data).at("cpus").at("tests"), model::Values{"2"});
}

TEST(Surroundings, ThatNoRowTellsAreNotKnownAndDifferFromNothing) {
  const Loaded silent = load(test_row());
  EXPECT_EQ(silent.problems, "");
  EXPECT_TRUE(commands::surroundings_lines(silent.data, run("cpus=2").data).empty());
  EXPECT_TRUE(commands::surroundings_lines(run("cpus=2").data, silent.data).empty());
}

TEST(Surroundings, OfAnotherVersionAreRefusedAsOtherRowsAre) {
  const Loaded other = load(test_row() + run_row({{"schema_version", "99"}, {"run_id", "other"}}));
  EXPECT_EQ(other.problems.find("f.csv:3: a row of schema version 99 in a file of another one"), 0U) << other.problems;
  EXPECT_EQ(other.data.contexts.size(), 1U) << "it is no run of the file";
}

TEST(Surroundings, AreHeldAgainstThoseOfTheSameProgram) {
  const auto two = [](const std::string& of_other) {
    return load(run_row({{"detail", "folder_depth=3"}}) + test_row() +
                run_row({{"detail", "folder_depth=" + of_other}, {"program", "other"}}) +
                test_row({{"program", "other"}, {"test", "Other.Test"}}));
  };
  EXPECT_TRUE(changed_facts(facts_of(two("4").data), facts_of(two("4").data)).empty());
  EXPECT_TRUE(changed_facts(facts_of(two("4").data), facts_of(run("folder_depth=3").data)).empty()) << "fewer programs";
  const std::vector<model::ChangedFact> changed = changed_facts(facts_of(two("4").data), facts_of(two("5").data));
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0].before + " -> " + changed[0].after, "4 -> 5");
}

TEST(Surroundings, OfOtherProgramsAreHeldAgainstEachOther) {
  const Loaded other = load(run_row({{"detail", "cpus=4;no value"}, {"program", "other"}}) +
                            test_row({{"program", "other"}, {"test", "Other.Test"}}));
  const std::vector<model::ChangedFact> changed = changed_facts(facts_of(run("cpus=2").data), facts_of(other.data));
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0].before + " -> " + changed[0].after, "2 -> 4");
  EXPECT_TRUE(changed_facts(facts_of(run("cpus=4").data), facts_of(other.data)).empty());
  EXPECT_EQ(facts_of(other.data).size(), 1U) << "words without a value are of a version to come";
}

TEST(Surroundings, OfRunsThatWereNotChosenAreLeftOut) {
  const Loaded loaded =
      load(run_row({{"run_id", "old"}, {"started_at", "2026-11-20T00:00:00Z"}, {"detail", "cpus=8"}}) +
           test_row({{"run_id", "old"}, {"started_at", "2026-11-20T00:00:00Z"}}) + run_row({{"detail", "cpus=2"}}) +
           test_row());
  EXPECT_EQ(model::joined(facts_of(loaded.data).at("cpus")), "2");
}

TEST(Surroundings, DifferInALineWithAdvice) {
  const std::vector<std::string> lines =
      commands::surroundings_lines(run("time_zone=none;unheard_of=1").data, run("time_zone=UTC;unheard_of=2").data);
  ASSERT_EQ(lines.size(), 1U) << "a fact without a known effect is left out";
  EXPECT_EQ(lines[0].find("TZ differs (none -> UTC): "), 0U) << lines[0];
}

TEST(Surroundings, AreRememberedUnderTheNamesThatHaveAdvice) {
  const auto facts = commands::facts_to_remember(run("cpus=2;unheard_of=1;locale=C").data);
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].first + ": " + facts[0].second, "number of processors: 2");
  for (const auto& [name, value] : facts) EXPECT_NE(commands::advice_on(name), "") << name;
  EXPECT_EQ(commands::advice_on("cpus"), "");
}

TEST(Surroundings, OfABaselineHoldThoseOfFewerPrograms) {
  EXPECT_TRUE(model::has_all("2+4", "4"));
  EXPECT_TRUE(model::has_all("2", "2"));
  EXPECT_FALSE(model::has_all("2", "2+4"));
  EXPECT_FALSE(model::has_all("12", "2"));
}

}  // namespace
}  // namespace syscost::bench
