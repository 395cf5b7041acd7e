// SPDX-License-Identifier: MIT
//
// What may vary: tolerances, volatile syscalls, and calls that moved between the tests of a program.
#include "stats/count_policy.h"

#include <gtest/gtest.h>

#include <vector>

#include "stats/verdict.h"
#include "windows.h"

namespace syscost::bench::stats {
namespace {

TEST(CountPolicy, GivesEachSyscallTheLastToleranceThatNamesIt) {
  CountPolicy policy;
  EXPECT_FALSE(policy.add_tolerance("%file=5%").has_value());
  EXPECT_FALSE(policy.add_tolerance("read,ioctl TCGETS=3").has_value());
  EXPECT_EQ(policy.tolerance_of("openat", "file;desc").exact_rel, 0.05);
  EXPECT_EQ(policy.tolerance_of("read", "desc").exact_abs, 3);
  EXPECT_EQ(policy.tolerance_of("ioctl TCGETS", "desc").exact_abs, 3);
  EXPECT_EQ(policy.tolerance_of("ioctl TCSETS", "desc").exact_abs, 0);
  EXPECT_EQ(policy.tolerance_of("write", "desc").abs, 1) << "as without";
}

TEST(CountPolicy, RefusesWhatIsNoTolerance) {
  for (const char* text : {"", "read", "read=", "=3", "read=x", "read=-1", "read=3%%", "read=nan", "%nothing=3"}) {
    EXPECT_TRUE(CountPolicy().add_tolerance(text).has_value()) << text;
  }
  EXPECT_TRUE(CountPolicy().add_volatile("/(/").has_value());
}

TEST(CountPolicy, TakesNamedSyscallsForVolatile) {
  CountPolicy policy;
  EXPECT_FALSE(policy.add_volatile("/^sched_/").has_value());
  EXPECT_TRUE(policy.is_volatile("sched_getparam", ""));
  EXPECT_TRUE(policy.is_volatile("futex", "wait;volatile"));
  EXPECT_FALSE(policy.is_volatile("read", "desc"));
}

TEST(CountPolicy, LetsTheCommandLineDecideOverAFile) {
  CountPolicy file;
  EXPECT_FALSE(file.add_tolerance("read=7").has_value());
  EXPECT_FALSE(file.add_tolerance("write=7").has_value());
  EXPECT_FALSE(file.add_volatile("openat").has_value());
  CountPolicy policy;
  EXPECT_FALSE(policy.add_tolerance("read=3").has_value());
  policy.put_before(file);
  EXPECT_EQ(policy.tolerance_of("read", "").exact_abs, 3);
  EXPECT_EQ(policy.tolerance_of("write", "").exact_abs, 7);
  EXPECT_TRUE(policy.is_volatile("openat", "file"));
}

/// One test of a program.
WindowSummary test_of(const char* program, const char* name, std::vector<SyscallSummary> syscalls) {
  WindowSummary one = window(std::move(syscalls));
  one.program = program;
  one.name = name;
  one.kind = "test";
  one.origin = "syscost";
  return one;
}

class MovedCalls : public ::testing::Test {
 protected:
  /// The verdict of each test of OLD beside that of NEW.
  static std::vector<Verdict> verdicts(const std::vector<WindowSummary>& before,
                                       const std::vector<WindowSummary>& after) {
    std::vector<Comparison> rows;
    for (std::size_t i = 0; i < before.size(); ++i) rows.push_back(compare_windows(&before[i], &after[i], {}));
    find_moved_calls(rows);
    std::vector<Verdict> out;
    for (const Comparison& row : rows) out.push_back(row.verdict);
    return out;
  }
  static WindowSummary reads(const char* name, double count, const char* program = "p") {
    return test_of(program, name, {syscall("read", exact(count))});
  }
};

TEST_F(MovedCalls, AreNoRegressionWhereTheirProgramMakesAsMany) {
  EXPECT_EQ(verdicts({reads("a", 3), reads("b", 2), reads("c", 7)}, {reads("a", 2), reads("b", 3), reads("c", 7)}),
            (std::vector{Verdict::moved, Verdict::moved, Verdict::same}));
}

TEST_F(MovedCalls, AreOnesOfOneProgram) {
  EXPECT_EQ(verdicts({reads("a", 3), reads("b", 2, "q")}, {reads("a", 2), reads("b", 3, "q")}),
            (std::vector{Verdict::improved, Verdict::regressed}));
}

TEST_F(MovedCalls, HideNoCallThatIsNew) {
  EXPECT_EQ(verdicts({reads("a", 3), reads("b", 2)}, {reads("a", 2), reads("b", 4)}),
            (std::vector{Verdict::improved, Verdict::regressed}));
}

TEST_F(MovedCalls, LeaveOtherChangesOfTheirTests) {
  const auto both = [](double reads, double writes) {
    return test_of("p", "t", {syscall("read", exact(reads)), syscall("write", exact(writes))});
  };
  EXPECT_EQ(verdicts({both(3, 1), both(2, 1)}, {both(2, 1), both(3, 2)}),
            (std::vector{Verdict::moved, Verdict::regressed}));
}

// A count of a pass is no part of a program's sum: 0.5 less here and 0.5 more there are other numbers of calls.
TEST_F(MovedCalls, AreNoCountsOfAPass) {
  const auto rate = [](const char* name, double count) {
    WindowSummary one = reads(name, count);
    one.is_per_iteration = true;
    return one;
  };
  EXPECT_EQ(verdicts({rate("a", 3), rate("b", 2)}, {rate("a", 2), rate("b", 3)}),
            (std::vector{Verdict::improved, Verdict::regressed}));
}

}  // namespace
}  // namespace syscost::bench::stats
