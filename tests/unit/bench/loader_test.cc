// SPDX-License-Identifier: MIT
#include "model/loader.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "csv_text.h"
#include "model/group.h"
#include "model/lists.h"
#include "stats/window_summary.h"

namespace syscost::bench {
namespace {

using model::Dataset;
using testing::Cells;
using testing::header;
using testing::syscall_row;
using testing::test_row;

struct Loaded {
  Dataset data;
  std::string problems;
};

Loaded load(const std::string& rows, const model::LoadOptions& options = {}) {
  csv::Problems problems;
  Loaded result{model::load_text("f.csv", header() + rows, options, problems), ""};
  std::ostringstream out;
  problems.print(out);
  result.problems = out.str();
  return result;
}

TEST(Loader, KeepsAnEmptyCellApartFromZero) {
  const Loaded loaded = load(test_row({{"wall_ns", ""}, {"lost", "0"}}));
  ASSERT_EQ(loaded.data.samples.size(), 1U);
  EXPECT_FALSE(loaded.data.samples[0].totals.wall_ns.has_value());
  ASSERT_TRUE(loaded.data.samples[0].totals.lost.has_value());
  EXPECT_EQ(*loaded.data.samples[0].totals.lost, 0U);
}

TEST(Loader, TakesTheRunThatStartedLastWhereverItStands) {
  const Loaded loaded = load(test_row({{"run_id", "new"}, {"started_at", "2026-11-21T02:00:00.000000Z"}}) +
                             test_row({{"run_id", "old"}, {"started_at", "2026-11-21T01:00:00.000000Z"}}));
  ASSERT_EQ(loaded.data.samples.size(), 1U);
  EXPECT_EQ(loaded.data.text(loaded.data.context(loaded.data.samples[0]).run_id), "new");
}

TEST(Loader, RefusesAStartThatIsNoTimeInsteadOfTakingItForTheNewest) {
  for (const char* bad :
       {"yesterday", "2026-11-21", "2026-11-21T01:52:31", "2026-11-21 01:52:31Z", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T01:52:31.Z", "2026-11-21T01:52:3.1Z",
        "9999-99-99T99:99:99Z", "2026-11-21T01:52:31.12x4Z"}) {
    const Loaded loaded = load(test_row({{"run_id", "forged"}, {"started_at", bad}}) + test_row({{"run_id", "real"}}));
    EXPECT_EQ(loaded.problems, std::string("f.csv:2: column started_at holds \"") + bad +
                                   "\": a time as 2026-11-21T01:52:31.123Z expected\n");
    ASSERT_EQ(loaded.data.samples.size(), 1U) << bad;
    EXPECT_EQ(loaded.data.text(loaded.data.context(loaded.data.samples[0]).run_id), "real");
  }
}

TEST(Loader, OrdersStartsWithAnyNumberOfDecimals) {
  const char* const in_order[] = {"",
                                  "2024-02-29T23:59:59.9Z",
                                  "2026-11-21T01:52:31Z",
                                  "2026-11-21T01:52:31.1Z",
                                  "2026-11-21T01:52:31.123456789Z",
                                  "2026-12-31T23:59:60Z"};
  for (std::size_t i = 1; i < std::size(in_order); ++i) {
    const Loaded loaded = load(test_row({{"run_id", "newer"}, {"started_at", in_order[i]}}) +
                               test_row({{"run_id", "older"}, {"started_at", in_order[i - 1]}}));
    EXPECT_EQ(loaded.problems, "");
    ASSERT_EQ(loaded.data.samples.size(), 1U);
    EXPECT_EQ(loaded.data.text(loaded.data.context(loaded.data.samples[0]).run_id), "newer") << in_order[i];
  }
}

TEST(Loader, NamesTheNewestOfManyRunsWhereTheWantedOneIsMissing) {
  std::string rows;
  for (int i = 10; i < 40; ++i) {
    rows += test_row(
        {{"run_id", "run" + std::to_string(i)}, {"started_at", "2026-11-21T01:52:" + std::to_string(i) + ".5Z"}});
  }
  model::LoadOptions options;
  options.run_id = "run9";
  EXPECT_EQ(
      load(rows, options).problems,
      "f.csv: no run \"run9\" in it; it holds run39, run38, run37, run36, run35, run34, run33, run32, run31, run30 "
      "and 20 older runs\n");
}

TEST(Loader, KeepsAllProcessesOfTheNewestRun) {
  const Loaded loaded = load(test_row({{"pid", "1"}, {"started_at", "2026-11-21T01:00:00.000000Z"}}) +
                             test_row({{"pid", "2"}, {"started_at", "2026-11-21T01:00:09.000000Z"}}));
  EXPECT_EQ(loaded.data.samples.size(), 2U);
}

TEST(Loader, LeavesOutAndReportsARowThatIsThereTwice) {
  const Loaded loaded = load(test_row() + syscall_row() + syscall_row({{"syscall", "read"}}) + syscall_row());
  EXPECT_EQ(loaded.data.rows.size(), 2U);
  EXPECT_EQ(loaded.problems, "f.csv:5: the same key as f.csv:3; left out, it would count twice\n");
}

TEST(Loader, KeepsRequestsOfOneSyscallApart) {
  const Loaded loaded = load(test_row() + syscall_row({{"detail", "A"}}) + syscall_row({{"detail", "B"}}));
  EXPECT_EQ(loaded.data.rows.size(), 2U);
  EXPECT_EQ(loaded.problems, "");
}

TEST(Loader, FindsAWindowsRowsWhenTheFileWasSorted) {
  const Cells second = {{"test", "Suite.Other"}};
  const Loaded loaded =
      load(test_row() + test_row(second) + syscall_row() + syscall_row(second) + syscall_row({{"syscall", "read"}}));
  ASSERT_EQ(loaded.data.samples.size(), 2U);
  EXPECT_EQ(loaded.data.rows_of(0).size(), 2U);
  EXPECT_EQ(loaded.data.rows_of(1).size(), 1U);
}

TEST(Loader, ReadsTheKeyAgainWhereverOneOfItsColumnsDiffers) {
  const Cells keys[] = {{{"pid", "8"}},    {{"repetition", "1"}},    {{"test", "Suite.Tesu"}},
                        {{"window", "w"}}, {{"origin", "bpftrace"}}, {{"kind", "loop"}}};
  std::string rows;
  for (const Cells& key : keys) rows += test_row() + test_row(key);
  const Loaded loaded = load(rows);
  EXPECT_EQ(loaded.data.samples.size(), 1 + std::size(keys));
}

TEST(Loader, TellsKeysApartThatAreTheSameBytesOnceTheirQuotesAreGone) {
  // The library takes quotes away in place, which leaves `"a"b"` and end marks behind in both.
  const Loaded loaded =
      load(test_row({{"test", R"("a""b")"}, {"window", ""}}) + test_row({{"test", R"("a"b)"}, {"window", R"("")"}}));
  ASSERT_EQ(loaded.data.samples.size(), 2U) << loaded.problems;
  EXPECT_EQ(loaded.data.text(loaded.data.samples[0].test), R"(a"b)");
  EXPECT_EQ(loaded.data.text(loaded.data.samples[1].test), R"("a"b)");
}

TEST(Loader, DoesNotTakeARowForTheNextOneOfAWindowThatWasRefused) {
  const Cells refused = {{"test", "Suite.Other"}, {"record", "total"}};
  const Loaded loaded = load(test_row() + test_row(refused) + syscall_row({{"test", "Suite.Other"}}));
  ASSERT_EQ(loaded.data.samples.size(), 2U);
  EXPECT_EQ(loaded.data.rows_of(0).size(), 0U);
  EXPECT_EQ(loaded.data.rows_of(1).size(), 1U);
}

TEST(Loader, RefusesNumbersThatDoNotFit) {
  const Loaded loaded = load(test_row({{"wall_ns", "18446744073709551616"}}) + test_row({{"wall_ns", " 1"}}) +
                             test_row({{"wall_ns", "0x10"}}));
  EXPECT_EQ(std::count(loaded.problems.begin(), loaded.problems.end(), '\n'), 3);
  EXPECT_EQ(loaded.data.samples[0].totals_line, 0U);
}

TEST(Loader, TellsANumberThatIsTooLargeFromOneThatIsNone) {
  const std::string most = "18446744073709551614";
  const Loaded most_of_all = load(test_row({{"wall_ns", most}}));
  EXPECT_EQ(most_of_all.problems, "");
  EXPECT_EQ(*most_of_all.data.samples[0].totals.wall_ns, 18446744073709551614U);
  for (const char* large : {"18446744073709551615", "18446744073709551616", "100000000000000000000000"}) {
    EXPECT_EQ(load(test_row({{"wall_ns", large}})).problems, std::string("f.csv:2: column wall_ns holds \"") + large +
                                                                 "\": a whole number up to " + most + " expected\n");
  }
  for (const char* none : {"-1", "1.5", "1e3", "1 ", "+1"}) {
    EXPECT_EQ(load(test_row({{"wall_ns", none}})).problems,
              std::string("f.csv:2: column wall_ns holds \"") + none + "\": a whole number expected\n");
  }
  EXPECT_EQ(load(test_row({{"repetition", "4294967296"}})).problems,
            "f.csv:2: column repetition holds \"4294967296\": a whole number up to 4294967295 expected\n");
}

TEST(Loader, RefusesCallsThatAddUpToTheEntriesOnlyWhereTheSumRunsOver) {
  const Loaded loaded = load(test_row() + syscall_row({{"entries", "5"},
                                                       {"calls", "18446744073709551614"},
                                                       {"restarts", "7"},
                                                       {"in_flight", "0"},
                                                       {"no_return", "0"}}));
  EXPECT_TRUE(loaded.data.rows.empty());
}

TEST(Groups, PoolRepetitionsAndProcesses) {
  Loaded loaded = load(test_row({{"repetition", "0"}}) + test_row({{"repetition", "1"}}) + test_row({{"pid", "8"}}));
  const auto groups = model::group_samples(loaded.data);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].samples.size(), 3U);
}

TEST(Groups, NeverAddWhatAnotherToolCounted) {
  Loaded loaded = load(test_row() + test_row({{"origin", "bpftrace"}}));
  EXPECT_EQ(model::group_samples(loaded.data).size(), 2U);
}

TEST(Groups, PutSuitesBehindTests) {
  Loaded loaded = load(test_row({{"kind", "suite"}, {"test", "Suite"}, {"window", "set-up"}}) + test_row());
  const auto groups = model::group_samples(loaded.data);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(model::display_name(loaded.data, groups[0]), "Suite.Test");
  EXPECT_EQ(model::display_name(loaded.data, groups[1]), "suite Suite, set-up");
}

TEST(Groups, PutALoopBehindItsTest) {
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
  // Asked or not: times and counts of different passes can stand side by side per iteration only.
  for (bool asked : {true, false}) {
    const auto window = stats::summarize(loaded.data, model::group_samples(loaded.data)[0], asked);
    EXPECT_TRUE(window.is_per_iteration);
    EXPECT_EQ(window.wall_ns->median, 5);
    EXPECT_EQ(window.calls->median, 3);
    ASSERT_EQ(window.syscalls.size(), 1U);
    EXPECT_EQ(window.syscalls[0].calls->median, 3);
  }
}

TEST(Summary, LeavesFixedCallsOutOfFiguresPerIterationWhereAllRepetitionsTellThemApart) {
  auto repetition = [](const char* number, const char* fixed) {
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
                        {"fixed_calls", fixed},
                        {"fixed_errors", *fixed == '\0' ? "" : "2"},
                        {"fixed_errnos", *fixed == '\0' ? "" : "ENOENT:2"},
                        {"latency_count", "23"},
                        {"latency_sum_ns", "2300"}});
  };
  Loaded apart = load(repetition("0", "3") + repetition("1", "3"));
  const auto told = stats::summarize(apart.data, model::group_samples(apart.data)[0], true);
  EXPECT_EQ(told.calls->median, 2);
  EXPECT_EQ(told.fixed_calls->median, 3);
  EXPECT_EQ(told.spread_calls->median, 2.3);
  EXPECT_EQ(told.errors->median, 1);
  ASSERT_EQ(told.syscalls.size(), 1U);
  EXPECT_EQ(told.syscalls[0].calls->median, 2);
  EXPECT_EQ(told.syscalls[0].fixed_calls->median, 3);
  EXPECT_EQ(told.syscalls[0].with_fixed().calls->median, 2.3);
  EXPECT_EQ(told.syscalls[0].kernel_ns->median, 200);
  EXPECT_EQ(told.syscalls[0].errnos.at("EAGAIN").median, 1);
  EXPECT_EQ(told.syscalls[0].errnos.at("ENOENT").max, 0);
  EXPECT_EQ(told.syscalls[0].fixed_errnos.at("ENOENT").median, 2);

  Loaded mixed = load(repetition("0", "3") + repetition("1", ""));
  const auto spread = stats::summarize(mixed.data, model::group_samples(mixed.data)[0], true);
  EXPECT_EQ(spread.calls->median, 2.3);
  EXPECT_FALSE(spread.fixed_calls.has_value());
  EXPECT_FALSE(spread.syscalls[0].fixed_calls.has_value());
  EXPECT_EQ(spread.syscalls[0].calls->median, 2.3);
}

TEST(Summary, RefusesMoreFixedCallsThanCalls) {
  Loaded loaded = load(test_row({{"total_calls", "1"}}) + syscall_row({{"calls", "1"}, {"fixed_calls", "2"}}));
  EXPECT_TRUE(loaded.data.rows.empty());
}

TEST(Lists, RefuseWhatIsNotAList) {
  for (const char* bad : {"ENOENT", "ENOENT:", ":3", "ENOENT:3 ", "ENOENT:x", "ENOENT:3,EINTR:1", "A:-1"}) {
    EXPECT_FALSE(model::parse_errnos(bad).has_value()) << bad;
  }
  const auto good = model::parse_errnos("ENOENT:3 EINTR:1");
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->size(), 2U);
}

TEST(Lists, FindWholeClassWordsOnly) {
  EXPECT_TRUE(model::has_class("desc;volatile", "volatile"));
  EXPECT_FALSE(model::has_class("desc;nonvolatile", "volatile"));
  EXPECT_FALSE(model::has_class("", "wait"));
}

TEST(Summarize, CallsNothingZeroThatARepetitionDidNotCount) {
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

TEST(Summarize, CallsAMissingRowZeroWhereTheRepetitionWasCounted) {
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
