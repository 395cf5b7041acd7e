// SPDX-License-Identifier: MIT
#include "model/incomplete_run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "csv_text.h"
#include "loaded.h"

namespace syscost::bench {
namespace {

using model::missing_shards;
using model::RunsAre;
using model::shards_text;
using testing::load;
using testing::run_row;
using testing::test_row;

using Texts = std::vector<std::string>;

std::string shard(const std::string& which, const std::string& run, const std::string& program = "tests") {
  return run_row({{"detail", "cpus=2;shard=" + which}, {"run_id", run}, {"program", program}}) +
         test_row({{"run_id", run}, {"program", program}, {"test", "Of." + run}});
}

/// The dataset of several files, each with a run of its own.
model::Dataset dataset_of(const std::string& rows, std::size_t files) {
  model::LoadOptions all;
  all.all_runs = true;
  model::Dataset data = load(rows, all).data;
  data.files.resize(files, "f.csv");
  return data;
}

TEST(Shards, AllOfThemAreOneRun) {
  const model::Dataset data = dataset_of(shard("2 of 2", "b") + shard("1 of 2", "a"), 2);
  EXPECT_EQ(shards_text(data), "in 2 shards");
  EXPECT_EQ(missing_shards(data, RunsAre::one_folder), Texts());
}

TEST(Shards, ThatAreMissingAreNamed) {
  const model::Dataset data = dataset_of(shard("1 of 4", "a") + shard("4 of 4", "b"), 2);
  EXPECT_EQ(shards_text(data), "only shards 1 and 4 of 4");
  EXPECT_EQ(missing_shards(data, RunsAre::one_folder),
            Texts{"shards 2 and 3 of 4 of tests are missing: only shards 1 and 4 are here; bring "
                  "the CSV of each shard, or run what is missing"});
}

TEST(Shards, OfOneRunIdBelongTogether) {
  // The shards of another run do not stand in for one that this run lacks.
  const model::Dataset data = dataset_of(
      shard("1 of 3", "a") + shard("2 of 3", "a") + shard("1 of 3", "b") + shard("2 of 3", "b") + shard("3 of 3", "b"),
      2);
  ASSERT_EQ(missing_shards(data, RunsAre::one_folder).size(), 1U);
  EXPECT_EQ(missing_shards(data, RunsAre::one_folder)[0].find(
                "shard 3 of 3 of tests is missing: only shards 1 and 2 are here"),
            0U);
}

TEST(Shards, OneAloneInAFileIsWhatSomebodyChose) {
  const std::string one = shard("2 of 4", "a");
  EXPECT_EQ(missing_shards(dataset_of(one, 1), RunsAre::one_file), Texts());
  EXPECT_EQ(missing_shards(dataset_of(one, 1), RunsAre::one_folder).size(), 1U)
      << "of a folder others may not have arrived";
  EXPECT_EQ(shards_text(dataset_of(one, 1)), "only shard 2 of 4");
  EXPECT_EQ(missing_shards(dataset_of(one + shard("1 of 1", "b", "other"), 2), RunsAre::one_folder).size(), 1U)
      << "a tree of two programs";
}

TEST(Shards, OfARunInAHistoryAreNotReplacedByThoseOfAnother) {
  const std::string whole = shard("1 of 3", "a") + shard("2 of 3", "a") + shard("3 of 3", "a");
  EXPECT_EQ(
      missing_shards(dataset_of(whole + shard("1 of 3", "b") + shard("2 of 3", "b"), 2), RunsAre::apart),
      Texts{"run b: shard 3 of 3 of tests is missing: only shards 1 and 2 are here; bring the CSV of each shard, or "
            "run what is missing"});
  // Each shard alone is a run of its own here.
  EXPECT_EQ(missing_shards(dataset_of(whole + shard("2 of 3", "b") + shard("3 of 3", "c"), 3), RunsAre::apart),
            Texts());
}

TEST(Shards, OfDifferentProgramsAreNotMixed) {
  const model::Dataset data = dataset_of(shard("1 of 2", "a", "one") + shard("2 of 2", "b", "one") +
                                             shard("1 of 3", "c", "two") + shard("2 of 3", "d", "two"),
                                         4);
  EXPECT_EQ(shards_text(data), "");
  ASSERT_EQ(missing_shards(data, RunsAre::one_folder).size(), 1U);
  EXPECT_EQ(missing_shards(data, RunsAre::one_folder)[0].find("shard 3 of 3 of two is missing"), 0U);
}

TEST(Shards, ThatAFileClaimsWithoutSenseAreNone) {
  for (const char* claim :
       {"0 of 4", "5 of 4", "1 of", "of 4", "1 of 99999999999999999999", "1 of 4x", "-1 of 4", ""}) {
    EXPECT_EQ(shards_text(dataset_of(shard(claim, "a"), 1)), "") << claim;
  }
}

TEST(Shards, OfWhichThereAreManyAreNotAllNamed) {
  const model::Dataset data = dataset_of(shard("1 of 100000", "a") + shard("2 of 100000", "b"), 2);
  EXPECT_EQ(missing_shards(data, RunsAre::one_folder)[0].find(
                "shards 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 and 99986 more of"),
            0U)
      << missing_shards(data, RunsAre::one_folder)[0];
}

}  // namespace
}  // namespace syscost::bench
