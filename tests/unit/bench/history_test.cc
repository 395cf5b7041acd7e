// SPDX-License-Identifier: MIT
//
// A test's history: where its counts and times changed, and where they only varied.
#include "judge/history.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loaded.h"
#include "simulation.h"

namespace syscost::bench {
namespace {

using judge::HistoryRun;
using testing::Cells;
using testing::load;
using testing::syscall_row;
using testing::test_row;

/// Runs of Suite.Test that read so often; -1: it did not run, but another test of the program did.
struct Runs {
  explicit Runs(const std::vector<int>& reads, const std::string& classes = "desc") {
    std::string rows;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const std::string day = std::to_string(i + 10);
      const Cells run = {{"run_id", "r" + day}, {"started_at", "2026-11-" + day + "T00:00:00Z"}};
      const auto with = [&](Cells cells) {
        cells.insert(run.begin(), run.end());
        return cells;
      };
      const std::string count = std::to_string(reads[i]);
      if (reads[i] < 0) {
        rows += test_row(with({{"test", "Suite.Other"}, {"total_calls", "0"}}));
        continue;
      }
      rows += test_row(with({{"total_calls", count}, {"total_errors", "0"}, {"wall_ns", "1000"}}));
      if (reads[i] > 0) rows += syscall_row(with({{"syscall", "read"}, {"calls", count}, {"class", classes}}));
    }
    model::LoadOptions options;
    options.all_runs = true;
    loaded = load(rows, options);
    groups = model::group_samples(loaded.data);
    runs = judge::history_of(loaded.data, groups.front(), {}, 0.03);
  }

  std::vector<std::size_t> steps() const {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].step) at.push_back(i);
    }
    return at;
  }

  testing::Loaded loaded;
  std::vector<model::Group> groups;
  std::deque<HistoryRun> runs;
};

using Places = std::vector<std::size_t>;

TEST(History, AStepIsWhereACountBecomesAnother) {
  const Runs history({3, 3, 3, 5, 5, 2});
  EXPECT_EQ(history.loaded.problems, "");
  ASSERT_EQ(history.steps(), (Places{3, 5}));
  const judge::Comparison& step = *history.runs[3].step;
  ASSERT_EQ(step.deltas.size(), 1U);
  EXPECT_EQ(step.deltas[0].syscall, "read");
  EXPECT_EQ(step.deltas[0].old_count.median, 3);
  EXPECT_EQ(step.deltas[0].new_count.median, 5);
  EXPECT_EQ(step.old_window->n, 3U) << "it is held against all runs since the step before";
}

TEST(History, ACountThatVariesHasAStepOnlyWhereItLeavesItsRange) {
  // A count is known to vary after it came back. Before that it looks like a step.
  EXPECT_EQ(Runs({3, 4, 3, 4, 4, 3, 9}).steps(), (Places{1, 2, 6}));
  EXPECT_EQ(Runs({3, 40, 7, 2, 11}, "wait;volatile").steps(), Places{});
}

TEST(History, ARunWithoutTheTestIsThereAndIsNoStep) {
  const Runs history({3, -1, 3, 4});
  ASSERT_EQ(history.runs.size(), 4U);
  EXPECT_FALSE(history.runs[1].window.has_value());
  EXPECT_EQ(history.steps(), Places{3});
}

TEST(ChangePoints, AreWhereTimesBecomeOthers) {
  std::vector<double> times;
  for (int i = 0; i < 60; ++i) times.push_back((i < 20 ? 100 : i < 45 ? 130 : 90) + i * 37 % 11 * 0.5);
  const auto found = judge::change_points(times, 0.03);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at, 20U);
  EXPECT_EQ(found[1].at, 45U);
  EXPECT_NEAR(found[0].before, 102.5, 1);
  EXPECT_NEAR(found[0].after, 132.5, 1);
  EXPECT_NEAR(found[1].after, 92.5, 1);
}

TEST(ChangePoints, AreNotInWhatIsEqualShortOrDisturbedOnce) {
  EXPECT_TRUE(judge::change_points(std::vector<double>(50, 7.0), 0.03).empty());
  EXPECT_TRUE(judge::change_points(std::vector<double>{1, 1, 1, 9, 9, 9}, 0.03).empty());
  EXPECT_TRUE(judge::change_points({}, 0.03).empty());
  std::vector<double> times;
  for (int i = 0; i < 40; ++i) times.push_back(100 + i * 37 % 11);
  times[17] = 900;
  EXPECT_TRUE(judge::change_points(times, 0.03).empty());
}

/// Where `firsts` values and then `lasts` others change; 0: nowhere.
std::size_t place_of_change(std::size_t firsts, std::size_t lasts) {
  std::vector<double> times(firsts, 100);
  times.insert(times.end(), lasts, 200);
  const auto found = judge::change_points(times, 0.03);
  EXPECT_LE(found.size(), 1U);
  return found.empty() ? 0 : found[0].at;
}

TEST(ChangePoints, HaveThreeValuesOnEachSide) {
  EXPECT_EQ(place_of_change(3, 40), 3U);
  EXPECT_EQ(place_of_change(40, 3), 40U);
  std::vector<double> last_two(60, 100);
  last_two.insert(last_two.end(), {90, 900, 900});
  EXPECT_TRUE(judge::change_points(last_two, 0.03).empty());
}

TEST(ChangePoints, CanBeFoundFromTheLeastLengthOn) {
  // `bench log` says of shorter histories that they are too short. The clearest change is one in the middle.
  for (std::size_t length = 2; length < judge::kLeastHistory; ++length) {
    EXPECT_EQ(place_of_change(length / 2, length - length / 2), 0U) << length;
  }
  const std::size_t half = judge::kLeastHistory / 2;
  EXPECT_EQ(place_of_change(half, judge::kLeastHistory - half), half);
}

TEST(ChangePoints, OfValuesThatAreOftenEqualAreInTheirPlace) {
  EXPECT_EQ(place_of_change(10, 20), 10U);
}

TEST(ChangePoints, OfTheThresholdItselfAreNotSaid) {
  std::vector<double> times(10, 100);
  times.insert(times.end(), 10, 103);
  EXPECT_TRUE(judge::change_points(times, 0.03).empty());
  EXPECT_EQ(judge::change_points(times, 0.029).size(), 1U);
}

TEST(ChangePoints, OfLessThanTheThresholdAreNotSaid) {
  std::vector<double> times;
  for (int i = 0; i < 60; ++i) times.push_back((i < 30 ? 100 : 102) + i * 37 % 11 * 0.01);
  EXPECT_TRUE(judge::change_points(times, 0.03).empty());
  EXPECT_EQ(judge::change_points(times, 0.01).size(), 1U);
}

// docs/statistics.md has the rates of more histories.
TEST(ChangePoints, AreSeldomInventedAndFound) {
  constexpr std::size_t kHistories = 60;
  EXPECT_LE(simulation::simulate_steps(30, 0.10, 1, kHistories, 1).with_steps, 3U);
  EXPECT_GE(simulation::simulate_steps(30, 0.03, 1.1, kHistories, 1).near, kHistories * 8 / 10);
}

}  // namespace
}  // namespace syscost::bench
