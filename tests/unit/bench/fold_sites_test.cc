// SPDX-License-Identifier: MIT
//
// The loader adds the sites of a syscall up, so that rows are those of a run without --syscost_where.
#include "model/site.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loaded.h"

namespace syscost::bench::model {
namespace {

using testing::window_rows;

using Calls = std::map<std::string, std::uint64_t>;

Calls calls_of(const Dataset& data) {
  Calls calls;
  for (const SyscallRow& row : data.rows_of(0)) {
    const std::string& detail = data.text(row.detail);
    calls[data.text(row.syscall) + (detail.empty() ? "" : " " + detail)] += *row.calls;
  }
  return calls;
}

TEST(FoldDetails, OfTwoRunsLeaveThoseThatBothHave) {
  csv::Problems problems;
  Dataset one =
      load_text("one.csv", testing::header() + window_rows({{"ioctl", "TCGETS", 1}, {"read", "", 5}, {"write", "", 2}}),
                {}, problems);
  Dataset other = load_text("other.csv",
                            testing::header() + window_rows({{"ioctl", "TCGETS", 1},
                                                             {"ioctl", "FIONREAD", 4},
                                                             {"read", "file", 3},
                                                             {"read", "pipe", 2},
                                                             {"write", "", 2},
                                                             {"sendto", "socket", 7}}),
                            {}, problems);
  EXPECT_EQ(fold_uneven_details(one, other), std::set<std::string>{"read"});
  EXPECT_EQ(calls_of(one), (Calls{{"ioctl TCGETS", 1}, {"read", 5}, {"write", 2}}));
  EXPECT_EQ(calls_of(other),
            (Calls{{"ioctl TCGETS", 1}, {"ioctl FIONREAD", 4}, {"read", 5}, {"write", 2}, {"sendto socket", 7}}));
}

TEST(FoldSites, LeaveTheRowsOfAPlainRun) {
  const std::string text = testing::test_row({{"total_calls", "6"}}) +
                           testing::syscall_row({{"calls", "4"},
                                                 {"errors", "1"},
                                                 {"errnos", "EINTR:1"},
                                                 {"detail", "at a.cc:3 f+1"},
                                                 {"latency_count", "4"},
                                                 {"latency_sum_ns", "400"},
                                                 {"latency_min_ns", "90"},
                                                 {"latency_max_ns", "110"},
                                                 {"histogram", "88:4"}}) +
                           testing::syscall_row({{"calls", "2"},
                                                 {"errors", "2"},
                                                 {"errnos", "EINTR:1 ENOSPC:1"},
                                                 {"detail", "at b.cc:9 g+2"},
                                                 {"latency_count", "2"},
                                                 {"latency_sum_ns", "100"},
                                                 {"latency_min_ns", "40"},
                                                 {"latency_max_ns", "60"},
                                                 {"histogram", "40:1 56:1"}}) +
                           testing::syscall_row({{"syscall", "ioctl"}, {"detail", "TCGETS"}, {"calls", "0"}});
  LoadOptions load;
  load.keep_histograms = true;
  const testing::Loaded loaded = testing::load(text, load);
  EXPECT_EQ(loaded.problems, "");
  EXPECT_TRUE(loaded.data.has_sites);
  EXPECT_TRUE(loaded.data.site_rows.empty()) << "not asked for";
  const std::vector<SyscallRow> rows = loaded.data.rows_of(0);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].detail, kNoName);
  EXPECT_EQ(*rows[0].calls, 6U);
  EXPECT_EQ(loaded.data.text(rows[0].errnos), "EINTR:2 ENOSPC:1");
  EXPECT_EQ(*rows[0].latency_sum_ns, 500U);
  EXPECT_EQ(*rows[0].latency_min_ns, 40U);
  EXPECT_EQ(*rows[0].latency_max_ns, 110U);
  EXPECT_EQ(loaded.data.text(rows[0].histogram), "88:4 40:1 56:1");
  EXPECT_EQ(loaded.data.text(rows[1].detail), "TCGETS") << "other details stay";
}

TEST(FoldSites, AreNoDetails) {
  const testing::Loaded loaded = testing::load(window_rows({{"write", "at a.cc:3 f+1", 4}}));
  EXPECT_FALSE(has_details(loaded.data));
}

TEST(FoldSites, KeepNothingOfRunsThatAreLeftOut) {
  std::string older = window_rows({{"write", "at a.cc:3 f+1", 4}});
  for (std::size_t at = 0; (at = older.find(",r1,2026", at)) != std::string::npos; ++at)
    older.replace(at, 8, ",r0,2025");
  const testing::Loaded loaded = testing::load(older + window_rows({{"write", "", 4}}));
  EXPECT_FALSE(loaded.data.has_sites);
}

TEST(FoldSites, DoNotWrapAroundInASumThatIsTooLarge) {
  const std::string most = "18446744073709551614";
  const std::string text = testing::test_row() + testing::syscall_row({{"calls", most}, {"detail", "at a.cc:3 f+1"}}) +
                           testing::syscall_row({{"calls", most}, {"detail", "at a.cc:4 f+2"}});
  const testing::Loaded loaded = testing::load(text);
  ASSERT_EQ(loaded.data.rows_of(0).size(), 1U);
  EXPECT_FALSE(loaded.data.rows_of(0)[0].calls.has_value());
}

}  // namespace
}  // namespace syscost::bench::model
