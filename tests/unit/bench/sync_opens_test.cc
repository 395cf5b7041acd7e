// SPDX-License-Identifier: MIT
//
// An open with O_SYNC makes each write to its file a sync. So the judge counts such opens as syncs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judge/accept.h"
#include "judge/baseline_windows.h"
#include "judge/direction.h"
#include "judge/site_changes.h"
#include "judge/verdict.h"
#include "loaded.h"
#include "model/baseline.h"
#include "stats/summaries.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

using testing::Cells;

/// Opens of a test in each repetition: how many, and the column sync_opens.
struct Opens {
  int calls;
  const char* sync;
};

std::string rows_of(const std::vector<Opens>& repetitions) {
  std::string rows;
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    const std::string number = std::to_string(i);
    const std::string calls = std::to_string(repetitions[i].calls);
    const std::string total = std::to_string(repetitions[i].calls + 1);
    rows += testing::test_row({{"repetition", number}, {"total_calls", total}, {"total_errors", "0"}});
    const Cells same = {{"repetition", number}, {"errors", "0"}};
    Cells write = same;
    write.insert({{"calls", "1"}});
    rows += testing::syscall_row(write);
    if (repetitions[i].calls == 0) continue;
    Cells open = same;
    open.insert({{"syscall", "openat"}, {"calls", calls}, {"sync_opens", repetitions[i].sync}});
    rows += testing::syscall_row(open);
  }
  return rows;
}

/// A side of a comparison, with the data that its views point to.
struct Side {
  explicit Side(const std::vector<Opens>& repetitions) : loaded(testing::load(rows_of(repetitions))) {
    EXPECT_EQ(loaded.problems, "");
    groups = model::group_samples(loaded.data, model::Tools::left_out);
    windows = stats::summarize_all(loaded.data, groups, true);
  }
  const stats::WindowSummary& window() const { return windows.at(0); }

  testing::Loaded loaded;
  std::vector<model::Group> groups;
  std::vector<stats::WindowSummary> windows;
};

TEST(SyncOpens, AreSyncs) {
  const Side before({{4, "2"}});
  const Side after({{4, "0"}});
  EXPECT_EQ(verdict(before.window(), before.window()), Verdict::same);
  EXPECT_EQ(verdict(after.window(), after.window()), Verdict::same);
  const Comparison fewer = compare_windows(&before.window(), &after.window(), {});
  EXPECT_EQ(fewer.verdict, Verdict::regressed);
  EXPECT_EQ(fewer.reason, "fewer syncs: 2 -> 0");
  ASSERT_EQ(fewer.deltas.size(), 1U);
  EXPECT_EQ(fewer.deltas[0].syscall, "O_SYNC");
  EXPECT_EQ(count_in(before.window(), fewer.deltas[0], fewer)->median, 2);
  EXPECT_EQ(count_in(after.window(), fewer.deltas[0], fewer)->median, 0);
  EXPECT_EQ(verdict(after.window(), before.window()), Verdict::regressed);
}

TEST(SyncOpens, AreNoMoreOpensThanTheirs) {
  const Comparison more = [] {
    static const Side before({{1, "0"}});
    static const Side after({{2, "1"}});
    return compare_windows(&before.window(), &after.window(), {});
  }();
  EXPECT_EQ(more.verdict, Verdict::regressed);
  EXPECT_NE(more.reason.find("more syncs: 0 -> 1"), std::string::npos) << more.reason;
  EXPECT_EQ(descriptors_made_by("O_SYNC"), 0);
}

TEST(SyncOpens, AreNoneWhereARepetitionOpensNothing) {
  const Side before({{1, "1"}, {0, ""}});
  ASSERT_TRUE(before.window().sync_opens.has_value());
  EXPECT_EQ(before.window().sync_opens->calls->min, 0);
  EXPECT_EQ(before.window().sync_opens->calls->max, 1);
  const Side nothing({{0, ""}, {0, ""}});
  EXPECT_EQ(nothing.window().sync_opens->calls->max, 0);
}

TEST(SyncOpens, ThatAreNotKnownAreNotCompared) {
  const Side unknown({{4, ""}});
  EXPECT_FALSE(unknown.window().sync_opens.has_value());
  for (const char* const sync : {"0", "2"}) {
    const Side known({{4, sync}});
    EXPECT_EQ(verdict(unknown.window(), known.window()), Verdict::same) << sync;
    EXPECT_EQ(verdict(known.window(), unknown.window()), Verdict::same) << sync;
  }
}

TEST(SyncOpens, CanBeAccepted) {
  const Side before({{4, "2"}});
  const Side after({{4, "0"}});
  for (const char* const what : {"-2 O_SYNC", "fewer syncs", "fewer syncs: 2 -> 0", "syncs", "O_SYNC"}) {
    Accept one;
    one.tests.patterns = {"*"};
    one.reason = "it is meant";
    EXPECT_EQ(one.changes.read(what), "") << what;
    std::vector<Comparison> rows = {compare_windows(&before.window(), &after.window(), {})};
    accept_changes({one}, rows);
    EXPECT_EQ(rows[0].verdict, Verdict::accepted) << what;
  }
}

stats::WindowSummary through_a_baseline(const std::vector<const Side*>& sides) {
  model::Baseline written;
  written.surroundings = {{"filter", ""}};
  written.runs = 1;
  for (const Side* side : sides) {
    written.windows.push_back(to_baseline(side->window(), "p" + std::to_string(written.windows.size()), "S.T"));
  }
  csv::Problems problems;
  static std::vector<model::Baseline> kept;
  kept.push_back(*model::parse_baseline("it", model::to_text(written), problems));
  return from_baseline(kept.back(), kept.back().windows.at(0));
}

TEST(SyncOpens, StandInABaseline) {
  const Side two({{4, "2"}});
  const Side none({{4, "0"}});
  const Side unknown({{4, ""}});
  EXPECT_EQ(through_a_baseline({&two}).sync_opens->calls->median, 2);
  EXPECT_EQ(through_a_baseline({&none}).sync_opens->calls->median, 0);
  EXPECT_EQ(through_a_baseline({&none}).syscalls.size(), 2U);
  EXPECT_FALSE(through_a_baseline({&unknown}).sync_opens.has_value());
  EXPECT_FALSE(through_a_baseline({&two, &unknown}).sync_opens.has_value())
      << "a file knows them of all windows, or none";
}

}  // namespace
}  // namespace syscost::bench::judge
