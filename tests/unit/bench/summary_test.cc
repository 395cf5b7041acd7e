// SPDX-License-Identifier: MIT
//
// Loaded rows are put into groups, and each group is summed up.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "csv_text.h"
#include "loaded.h"
#include "model/dataset.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench {
namespace {

using testing::load;
using testing::Loaded;
using testing::syscall_row;
using testing::test_row;

TEST(Groups, PoolRepetitionsAndProcesses) {
  Loaded loaded = load(test_row({{"repetition", "0"}}) + test_row({{"repetition", "1"}}) + test_row({{"pid", "8"}}));
  const auto groups = model::group_samples(loaded.data);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].samples.size(), 3U);
}

TEST(PeakOfMappings, IsUnknownIfOneRepetitionHasNone) {
  // The one without may have had the highest.
  const std::string first = test_row({{"repetition", "0"}, {"peak_mapped_bytes", "4096"}});
  const auto peak_with = [&](const std::string& second) {
    Loaded loaded = load(first + second);
    return stats::summarize(loaded.data, model::group_samples(loaded.data)[0], false).peak_mapped_bytes;
  };
  EXPECT_FALSE(peak_with(test_row({{"repetition", "1"}})).has_value());
  const auto known = peak_with(test_row({{"repetition", "1"}, {"peak_mapped_bytes", "8192"}}));
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->max, 8192);
}

TEST(Groups, NeverAddWhatAnotherToolCounted) {
  Loaded loaded = load(test_row() + test_row({{"origin", "bpftrace"}}));
  EXPECT_EQ(model::group_samples(loaded.data).size(), 2U);
}

TEST(Groups, PutSuitesAfterTests) {
  Loaded loaded = load(test_row({{"kind", "suite"}, {"test", "Suite"}, {"window", "set-up"}}) + test_row());
  const auto groups = model::group_samples(loaded.data);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(model::display_name(loaded.data, groups[0]), "Suite.Test");
  EXPECT_EQ(model::display_name(loaded.data, groups[1]), "suite Suite, set-up");
}

TEST(Groups, PutALoopAfterItsTest) {
  Loaded loaded =
      load(test_row({{"kind", "loop"}, {"window", "f"}, {"iterations", "10"}}) + test_row({{"test", "Suite.Other"}}) +
           test_row({{"kind", "loop"}, {"window", "g"}, {"test", "Suite.Killed"}}) +
           test_row({{"detail", "excludes loop f"}}) +
           test_row({{"kind", "suite"}, {"test", "Suite"}, {"window", "set-up"}}) +
           test_row({{"kind", "loop"}, {"test", "Suite"}, {"window", "h"}, {"parent", "set-up"}}));
  const auto groups = model::group_samples(loaded.data);
  std::vector<std::string> names;
  for (const model::Group& group : groups) names.push_back(model::display_name(loaded.data, group));
  EXPECT_EQ(names, (std::vector<std::string>{"Suite.Other", "Suite.Test", "Suite.Test, loop f", "Suite.Killed, loop g",
                                             "suite Suite, set-up", "suite Suite, set-up, loop h"}));
  EXPECT_EQ(groups[2].owner, 1U);
  EXPECT_FALSE(groups[3].owner.has_value());
  EXPECT_EQ(groups[5].owner, 4U);
}

TEST(Summary, IsOfOneCallOfALoop) {
  Loaded loaded = load(test_row({{"kind", "loop"}, {"window", "f"}, {"iterations", "10"}, {"wall_ns", "1000"}}) +
                       test_row({{"detail", "excludes loop f"}}));
  const auto windows = stats::summarize_all(loaded.data, model::group_samples(loaded.data), false);
  EXPECT_EQ(windows[0].excludes, std::set<std::string_view>{"excludes loop f"});
  EXPECT_EQ(windows[1].loop, "f");
  EXPECT_EQ(windows[1].owner, "Suite.Test");
  EXPECT_TRUE(windows[1].follows_owner);
  EXPECT_EQ(windows[1].wall_ns->median, 100);
}

TEST(Summary, CountsZeroWhereARepetitionDidNotMakeTheCall) {
  Loaded loaded =
      load(test_row({{"repetition", "0"}, {"total_calls", "3"}}) + syscall_row({{"repetition", "0"}, {"calls", "3"}}) +
           test_row({{"repetition", "1"}, {"total_calls", "0"}}));
  const auto window = stats::summarize(loaded.data, model::group_samples(loaded.data)[0], false);
  ASSERT_EQ(window.syscalls.size(), 1U);
  EXPECT_EQ(window.syscalls[0].calls->min, 0);
  EXPECT_EQ(window.syscalls[0].calls->max, 3);
  EXPECT_EQ(window.incomplete, 0U);
}

TEST(Summary, KnowsNoTimeWhereOneRowHasNone) {
  Loaded loaded = load(test_row() + syscall_row({{"latency_sum_ns", "5"}}) + syscall_row({{"syscall", "read"}}));
  const auto window = stats::summarize(loaded.data, model::group_samples(loaded.data)[0], false);
  EXPECT_FALSE(window.work_ns.has_value());
}

TEST(Summary, NoticesThatRowsAreMissing) {
  Loaded loaded = load(test_row({{"total_calls", "4"}}) + syscall_row({{"calls", "1"}}));
  const auto window = stats::summarize(loaded.data, model::group_samples(loaded.data)[0], false);
  EXPECT_EQ(window.incomplete, 1U);
  EXPECT_FALSE(window.work_ns.has_value());
}

TEST(Summary, DividesByIterationsOnlyWhenEveryRepetitionHasThem) {
  const std::string with = test_row({{"iterations", "10"}, {"wall_ns", "1000"}});
  const std::string without = test_row({{"repetition", "1"}, {"wall_ns", "1000"}});
  Loaded all = load(with);
  Loaded some = load(with + without);
  EXPECT_EQ(stats::summarize(all.data, model::group_samples(all.data)[0], true).wall_ns->median, 100);
  EXPECT_EQ(stats::summarize(some.data, model::group_samples(some.data)[0], true).wall_ns->median, 1000);
}

TEST(Summary, DividesCountsByTheIterationsTheyBelongToAndTimesByTheirs) {
  const std::string rows =
      test_row({{"iterations", "1000"}, {"counted_iterations", "10"}, {"wall_ns", "5000"}, {"total_calls", "30"}}) +
      syscall_row({{"calls", "30"}});
  Loaded loaded = load(rows);
  // In both cases: times and counts of different passes can be compared only per iteration.
  for (bool asked : {true, false}) {
    const auto window = stats::summarize(loaded.data, model::group_samples(loaded.data)[0], asked);
    EXPECT_TRUE(window.is_per_iteration);
    EXPECT_EQ(window.wall_ns->median, 5);
    EXPECT_EQ(window.calls->median, 3);
    ASSERT_EQ(window.syscalls.size(), 1U);
    EXPECT_EQ(window.syscalls[0].calls->median, 3);
  }
}

TEST(Summary, LeavesPerRunCallsOutOfFiguresPerIterationWhereAllRepetitionsTellThemApart) {
  auto repetition = [](const char* number, const char* per_run) {
    return test_row({{"repetition", number},
                     {"iterations", "1000"},
                     {"counted_iterations", "10"},
                     {"total_calls", "23"},
                     {"total_errors", "12"},
                     {"total_kernel_ns", "2300"}}) +
           syscall_row({{"repetition", number},
                        {"calls", "23"},
                        {"errors", "12"},
                        {"errnos", "EAGAIN:10 ENOENT:2"},
                        {"per_run_calls", per_run},
                        {"per_run_errors", *per_run == '\0' ? "" : "2"},
                        {"per_run_errnos", *per_run == '\0' ? "" : "ENOENT:2"},
                        {"latency_count", "23"},
                        {"latency_sum_ns", "2300"}});
  };
  Loaded apart = load(repetition("0", "3") + repetition("1", "3"));
  const auto told = stats::summarize(apart.data, model::group_samples(apart.data)[0], true);
  EXPECT_EQ(told.calls->median, 2);
  EXPECT_EQ(told.per_run_calls->median, 3);
  EXPECT_EQ(told.spread_calls->median, 2.3);
  EXPECT_EQ(told.errors->median, 1);
  ASSERT_EQ(told.syscalls.size(), 1U);
  EXPECT_EQ(told.syscalls[0].calls->median, 2);
  EXPECT_EQ(told.syscalls[0].per_run_calls->median, 3);
  EXPECT_EQ(told.syscalls[0].with_per_run().calls->median, 2.3);
  EXPECT_EQ(told.syscalls[0].kernel_ns->median, 200);
  EXPECT_EQ(told.syscalls[0].errnos->at("EAGAIN").median, 1);
  EXPECT_EQ(told.syscalls[0].errnos->at("ENOENT").max, 0);
  EXPECT_EQ(told.syscalls[0].per_run_errnos.at("ENOENT").median, 2);

  Loaded mixed = load(repetition("0", "3") + repetition("1", ""));
  const auto spread = stats::summarize(mixed.data, model::group_samples(mixed.data)[0], true);
  EXPECT_EQ(spread.calls->median, 2.3);
  EXPECT_FALSE(spread.per_run_calls.has_value());
  EXPECT_FALSE(spread.syscalls[0].per_run_calls.has_value());
  EXPECT_EQ(spread.syscalls[0].calls->median, 2.3);
}

TEST(Summary, RefusesMorePerRunCallsThanCalls) {
  Loaded loaded = load(test_row({{"total_calls", "1"}}) + syscall_row({{"calls", "1"}, {"per_run_calls", "2"}}));
  EXPECT_TRUE(loaded.data.rows.empty());
}

TEST(Summary, CallsNothingZeroThatARepetitionDidNotCount) {
  Loaded loaded =
      load(test_row({{"total_calls", "1"}, {"total_errors", "0"}, {"total_kernel_ns", "90"}}) +
           syscall_row({{"latency_count", "1"}, {"latency_sum_ns", "90"}}) + test_row({{"repetition", "1"}}));
  const auto groups = model::group_samples(loaded.data);
  ASSERT_EQ(groups.size(), 1U);
  const stats::WindowSummary window = stats::summarize(loaded.data, groups[0], false);
  EXPECT_EQ(window.uncounted, 1U);
  ASSERT_EQ(window.syscalls.size(), 1U);
  EXPECT_FALSE(window.syscalls[0].calls.has_value());
  EXPECT_FALSE(window.syscalls[0].kernel_ns.has_value());
  EXPECT_FALSE(window.work_ns.has_value());
}

TEST(Summary, CallsAMissingRowZeroWhereTheRepetitionWasCounted) {
  Loaded loaded =
      load(test_row({{"total_calls", "1"}, {"total_errors", "0"}, {"total_kernel_ns", "90"}}) +
           syscall_row({{"latency_count", "1"}, {"latency_sum_ns", "90"}}) +
           test_row({{"repetition", "1"}, {"total_calls", "0"}, {"total_errors", "0"}, {"total_kernel_ns", "0"}}));
  const auto groups = model::group_samples(loaded.data);
  const stats::WindowSummary window = stats::summarize(loaded.data, groups[0], false);
  EXPECT_EQ(window.uncounted, 0U);
  ASSERT_EQ(window.syscalls.size(), 1U);
  ASSERT_TRUE(window.syscalls[0].calls.has_value());
  EXPECT_EQ(window.syscalls[0].calls->min, 0);
  EXPECT_TRUE(window.work_ns.has_value());
}

}  // namespace
}  // namespace syscost::bench
