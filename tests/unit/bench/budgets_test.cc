// SPDX-License-Identifier: MIT
//
// Budgets: what the file may say, which tests a pattern means, and what exceeds a limit. Messages are in tests/cli.
#include "budgets/budget.h"
#include "budgets/limits.h"

#include <gtest/gtest.h>

#include <sstream>

#include "budgets/rules_file.h"

namespace syscost::bench::budgets {
namespace {

Budget budget(const std::string& lines) {
  csv::Problems problems;
  RulesFile file = parse_rules("it", "[[budget]]\n" + lines, problems);
  std::ostringstream said;
  problems.print(said);
  EXPECT_EQ(file.budgets.size(), 1U) << lines << said.str();
  return file.budgets.empty() ? Budget{} : std::move(file.budgets.front());
}

stats::WindowSummary window(double calls, double wall_ns) {
  stats::WindowSummary one;
  one.kind = "test";
  one.calls = one.entries = stats::Spread{1, calls, calls, calls};
  one.wall_ns = stats::Spread{1, wall_ns, wall_ns, wall_ns};
  stats::SyscallSummary write;
  write.name = "write";
  write.classes = "desc";
  write.calls = write.entries = one.calls;
  one.syscalls = {write};
  return one;
}

Subject subject(const stats::WindowSummary& of) {
  Subject one;
  one.window = &of;
  return one;
}

TEST(Budget, MeansTestsLoopsAndBenchmarksUnlessAnotherKindIsNamed) {
  const Budget all = budget("measure = \"calls\"\nmax = 1\n");
  EXPECT_TRUE(all.matches("test", "S.T", "p"));
  EXPECT_TRUE(all.matches("loop", "S.T, loop f", "p"));
  EXPECT_FALSE(all.matches("suite", "suite S, set-up", "p"));
  EXPECT_TRUE(budget("test = \"suite *\"\nmeasure = \"calls\"\nmax = 1\n").matches("suite", "suite S, set-up", "p"));
  const Budget named = budget("test = \"BM_*\"\nmeasure = \"calls\"\nmax = 1\n");
  EXPECT_TRUE(named.matches("benchmark", "benchmark BM_Copy/8", "p")) << "as Google Benchmark says it";
  const Budget some = budget("test = [\"S.*\", \"!S.Slow*\"]\nprogram = \"net_*\"\nmeasure = \"calls\"\nmax = 1\n");
  EXPECT_TRUE(some.matches("test", "S.T", "net_tests"));
  EXPECT_FALSE(some.matches("test", "S.SlowOne", "net_tests"));
  EXPECT_FALSE(some.matches("test", "S.T", "log_tests"));
}

TEST(Budget, ReadsTimesWithTheirUnit) {
  EXPECT_EQ(budget("measure = \"wall\"\nmax = \"1.5 ms\"\n").max, 1.5e6);
  EXPECT_EQ(budget("measure = \"wall\"\nmax = \"2min\"\n").max, 120e9);
  EXPECT_EQ(budget("measure = \"wall\"\nmax-growth = \"20 us\"\n").max_growth->value, 20e3);
  EXPECT_EQ(budget("measure = \"wall\"\nmax-growth = \"20 %\"\n").max_growth->share, 0.2);
}

TEST(BudgetFile, RefusesWhatItCannotRead) {
  for (const std::string text :
       {"[[budget]\n", "budget = 1\n", "[[budget]]\nmeasure = 1\nmax = 1\n", "[[budget]]\nmax = 1\n",
        "[[budget]]\nmeasure = \"calls\"\nmax = nan\n", "[[budget]]\nmeasure = \"calls\"\nmax = \"1\"\n",
        "[[budget]]\nmeasure = \"wall\"\nmax = \"1 fortnight\"\n", "[[budget]]\nmeasure = \"wall\"\nmax = \"ms\"\n",
        "[[budget]]\nmeasure = \"calls\"\nmax-growth = \"-3%\"\n",
        "[[budget]]\ntest = []\nmeasure = \"calls\"\nmax = 1\n", "volatile = \"read\"\n",
        "[[budget]]\nmeasure = \"calls\"\n"}) {
    csv::Problems problems;
    EXPECT_TRUE(parse_rules("it", text, problems).budgets.empty()) << text;
    EXPECT_FALSE(problems.empty()) << text;
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// The fault of the file.
std::string fault_of_file(const std::string& text) {
  csv::Problems problems;
  parse_rules("it", text, problems);
  return problems.empty() ? "" : problems.texts().front();
}

// The library that reads the file calls itself for each part and bracket.
TEST(BudgetFile, MayNotUseUpTheStack) {
  const std::string parts = "it:3: a key has more than 64 parts: no budget needs that, so the file is not read";
  const std::string nested =
      "it:3: more than 16 lists or tables inside each other: no budget needs that, so the file is not read";
  const std::string before = "# [[[[ . . \n\n";
  for (const std::string& key : {repeated("a.", 500'000) + "a", repeated("a.", 64) + "a", repeated("a . ", 64) + "a",
                                 repeated("\"a\".", 64) + "a", repeated("'a.b'.", 64) + "a"}) {
    EXPECT_EQ(fault_of_file(before + key + " = 1\n"), parts) << key.substr(0, 40);
    EXPECT_EQ(fault_of_file(before + "[" + key + "]\n"), parts) << key.substr(0, 40);
    EXPECT_EQ(fault_of_file(before + "[[" + key + "]]\n"), parts) << key.substr(0, 40);
    EXPECT_EQ(fault_of_file(before + "x = { " + key + " = 1 }\n"), parts) << key.substr(0, 40);
    EXPECT_EQ(fault_of_file(before + "x = [ { " + key + " = 1 } ]\n"), parts) << key.substr(0, 40);
  }
  EXPECT_EQ(fault_of_file(before + "x = " + repeated("[", 100'000)), nested);
  EXPECT_EQ(fault_of_file(before + "x = " + repeated("{a=", 100'000)), nested);
  EXPECT_EQ(fault_of_file(before + "x = " + repeated("[{a=", 100'000)), nested);
  EXPECT_EQ(fault_of_file(before + "x = " + repeated("{" + repeated("a.", 63) + "a=", 17)), nested);
  // Texts that end late, or never, hide nothing.
  const std::string long_key = repeated("a.", 100) + "a = 1\n";
  for (const char* text :
       {"x = 'a\\'\n", "x = \"a\\\\\"\n", "x = \"\"\"a\"\"\"\"\"\n", "x = '''a'''''\n", "x = \"\"\n", "x = ''\n",
        "x = \"\"\"\\\"\"\"\"\n", "x = \"a\n", "# \"\"\"\n", "x = ''''''\n", "x = \"\"\"\"\"\"\n"}) {
    EXPECT_NE(fault_of_file(text + long_key).find("more than 64 parts"), std::string::npos) << text;
  }
}

TEST(BudgetFile, MayHaveDotsAndBracketsInTexts) {
  const std::string text = repeated("a.[{", 100);
  const std::string rest = "max_calls = 1\n";
  for (const std::string& value : {"\"" + text + "\"", "'" + text + "'", "\"\"\"\n" + text + "\n\"\"\"",
                                   "'''" + text + "'''", "\"\\\"" + text + "\""}) {
    EXPECT_EQ(fault_of_file("[[budget]]\nreason = " + value + "\n" + rest), "") << value;
  }
  EXPECT_EQ(fault_of_file("[[budget]] # " + text + "\ntest = [" + repeated("\"A.b\", ", 200) + "]\n" + rest), "");
  EXPECT_EQ(fault_of_file(repeated("[[budget]]\nmax_calls = 1.5\n", 200)), "");
}

TEST(BudgetFile, ReadsEachShortKeyAsABudget) {
  csv::Problems problems;
  const RulesFile file = parse_rules("it",
                                     "[[budget]]\ntest = \"S.*\"\nmax_bytes_written = \"64 KiB\"\n"
                                     "leaked_descriptors = 0\nmax_calls = 7\nof = \"%file\"\n",
                                     problems);
  // `of` does not fit two of them.
  EXPECT_EQ(problems.count(), 2U);
  EXPECT_TRUE(file.budgets.empty());
  csv::Problems none;
  const RulesFile both = parse_rules(
      "it", "[[budget]]\ntest = \"S.*\"\nleaked_descriptors = 0\nmax_bytes_written = \"64 KiB\"\nfail = false\n", none);
  ASSERT_EQ(both.budgets.size(), 2U);
  EXPECT_EQ(both.budgets[0].title(), "descriptors-left");
  EXPECT_EQ(both.budgets[0].max, 0);
  EXPECT_EQ(both.budgets[0].where, "it:3");
  EXPECT_EQ(both.budgets[1].title(), "bytes-written");
  EXPECT_EQ(both.budgets[1].max, 65536);
  EXPECT_FALSE(both.budgets[1].fails);
  EXPECT_TRUE(both.budgets[1].matches("test", "S.T", "p"));
  EXPECT_FALSE(both.budgets[1].matches("test", "T.T", "p"));
}

TEST(EachMeasure, HasAShortKey) {
  for (const std::string& key : short_keys()) EXPECT_NE(measure_of_short_key(key), nullptr) << key;
  EXPECT_EQ(measure_of_short_key("max_bytes_written"), find_measure("bytes-written"));
  EXPECT_EQ(measure_of_short_key("leaked_children"), find_measure("children-left"));
  EXPECT_EQ(measure_of_short_key("leaked_mapped_bytes"), find_measure("mapped-bytes-left"));
  EXPECT_EQ(measure_of_short_key("max_peak_mapped"), find_measure("peak-mapped"));
  EXPECT_EQ(measure_of_short_key("max_p99"), find_measure("p99"));
  EXPECT_EQ(measure_of_short_key("max"), nullptr);
}

TEST(Judge, LimitsThePeakOfMappedMemoryOfEachTest) {
  stats::WindowSummary low = window(1, 1000);
  low.peak_mapped_bytes = stats::Spread{1, 4096, 4096, 4096};
  stats::WindowSummary high = window(2, 1000);
  high.peak_mapped_bytes = stats::Spread{2, 4096, 8192, 12288};
  const stats::WindowSummary none = window(1, 1000);
  const std::vector<BudgetedWindow> windows = {{"S.Low", "S.Low", "p", "test", subject(low), {}},
                                               {"S.High", "S.High", "p", "test", subject(high), {}},
                                               {"S.None", "S.None", "p", "test", subject(none), {}}};
  const Judgement each = judge({budget("max_peak_mapped = \"8 KiB\"\n")}, windows);
  ASSERT_EQ(each.exceeded.size(), 1U);
  EXPECT_EQ(each.exceeded[0].test, "S.High");
  EXPECT_EQ(each.exceeded[0].value, value_text(Unit::bytes, 12288)) << "the most of its repetitions";
  EXPECT_EQ(each.kept, 1U);
  EXPECT_EQ(judge({budget("max_peak_mapped = 1\n")}, {windows[2]}).unjudged.size(), 1U);
}

TEST(Judge, TakesTheHighestPeakOfAProgram) {
  stats::WindowSummary low = window(1, 1000);
  low.peak_rss_bytes = stats::Spread{1, 1000, 1000, 1000};
  stats::WindowSummary high = window(1, 1000);
  high.peak_rss_bytes = stats::Spread{1, 3000, 3000, 3000};
  const stats::WindowSummary none = window(1, 1000);
  const std::vector<BudgetedWindow> windows = {{"S.Low", "S.Low", "p", "test", subject(low), {}},
                                               {"S.High", "S.High", "p", "test", subject(high), {}},
                                               {"S.None", "S.None", "p", "test", subject(none), {}}};
  const Judgement program = judge({budget("max_peak_memory = 2000\nper = \"program\"\n")}, windows);
  ASSERT_EQ(program.exceeded.size(), 1U);
  EXPECT_EQ(program.exceeded[0].test, "p");
  EXPECT_EQ(program.exceeded[0].value, value_text(Unit::bytes, 3000));
  EXPECT_EQ(judge({budget("max_peak_memory = 3000\nper = \"program\"\n")}, windows).kept, 1U);
  const Judgement each = judge({budget("max_peak_memory = 2000\n")}, windows);
  EXPECT_EQ(each.exceeded.size(), 1U);
  EXPECT_EQ(each.kept, 1U) << "the third has no peak of its own";
  for (const char* per : {"", "per = \"program\"\n"}) {
    const Judgement nothing = judge({budget(std::string("max_peak_memory = 1\n") + per)}, {windows[2]});
    EXPECT_EQ(nothing.unjudged.size(), 1U) << per;
    EXPECT_TRUE(nothing.exceeded.empty());
  }
}

TEST(EachMeasure, CanBeLimitedOrSaysWhyNot) {
  for (const Measure& one : measures()) {
    EXPECT_EQ(find_measure(one.name), &one);
    EXPECT_EQ(refusal_of(one.name), "") << one.name;
    EXPECT_NE(one.figures, nullptr);
  }
  for (const char* renacers : {"critical_path", "span_count", "memory_usage", "anti_pattern"}) {
    EXPECT_NE(refusal_of(renacers), "") << renacers;
  }
}

TEST(Judge, NamesWhatExceedsALimitAndCountsTheRest) {
  const stats::WindowSummary few = window(4, 1000);
  const stats::WindowSummary many = window(5, 1000);
  const std::vector<BudgetedWindow> windows = {{"S.Few", "S.Few", "p", "test", subject(few), subject(few)},
                                               {"S.Many", "S.Many", "p", "test", subject(many), subject(few)}};
  const Judgement most = judge({budget("measure = \"calls\"\nof = \"write\"\nmax = 4\n")}, windows);
  ASSERT_EQ(most.exceeded.size(), 1U);
  EXPECT_EQ(most.exceeded[0].test, "S.Many");
  EXPECT_EQ(most.exceeded[0].value, "5");
  EXPECT_EQ(most.kept, 1U);
  EXPECT_EQ(judge({budget("measure = \"calls\"\nmax-growth = \"24%\"\n")}, windows).exceeded.size(), 1U);
  EXPECT_EQ(judge({budget("measure = \"calls\"\nmax-growth = \"25%\"\n")}, windows).exceeded.size(), 0U);
  EXPECT_EQ(judge({budget("measure = \"calls\"\nmax-growth = 1\n")}, windows).exceeded.size(), 0U);
  const Judgement sum = judge({budget("measure = \"calls\"\nper = \"program\"\nmax = 8\n")}, windows);
  ASSERT_EQ(sum.exceeded.size(), 1U);
  EXPECT_EQ(sum.exceeded[0].test, "p");
  EXPECT_EQ(sum.exceeded[0].value, "9");
}

TEST(Judge, SaysWhichBudgetLimitsNothing) {
  const stats::WindowSummary one = window(4, 1000);
  const std::vector<BudgetedWindow> windows = {{"S.T", "S.T", "p", "test", subject(one), std::nullopt}};
  EXPECT_EQ(judge({budget("test = \"T.*\"\nmeasure = \"calls\"\nmax = 1\n")}, windows).unmatched.size(), 1U);
  EXPECT_EQ(judge({budget("measure = \"cpu\"\nmax = \"1 s\"\n")}, windows).unjudged.size(), 1U) << "not measured";
  EXPECT_EQ(judge({budget("measure = \"p99\"\nmax = \"1 s\"\n")}, windows).unjudged.size(), 1U) << "too few calls";
}

TEST(Judge, NamesTheTestsThatHaveNoNumber) {
  const stats::WindowSummary unknown = window(4, 1000);  // its calls, but not which of them failed
  stats::WindowSummary without_calls = window(0, 1000);
  without_calls.syscalls.clear();
  const std::vector<BudgetedWindow> windows = {{"S.Calls", "S.Calls", "p", "test", subject(unknown), subject(unknown)},
                                               {"S.None", "S.None", "p", "test", subject(without_calls), std::nullopt},
                                               {"S.New", "S.New", "q", "test", subject(without_calls), std::nullopt}};
  const auto lacking = [&](const std::string& lines) {
    const Judgement judged = judge({budget(lines)}, windows);
    return judged.unjudged.empty() ? "" : judged.unjudged.front().second;
  };
  const std::string of_calls = "not measured in 1 of 3 tests: S.Calls";
  EXPECT_EQ(lacking("measure = \"errors\"\nof = \"*\"\nmax = 0\n"), of_calls);
  EXPECT_EQ(lacking("measure = \"kernel\"\nmax = \"1 s\"\n"), of_calls);
  EXPECT_EQ(lacking("measure = \"errors\"\nper = \"program\"\nmax = 0\n"), "not measured in 1 of 2 programs: p");
  EXPECT_EQ(lacking("measure = \"calls\"\nmax = 9\n"), "");
  EXPECT_EQ(lacking("measure = \"p99\"\nmax = \"1 s\"\n"), "nothing has enough calls: ten must lie beyond it");
}

TEST(Judge, NeedsANumberOfTheBaselineToJudgeGrowth) {
  stats::WindowSummary counted = window(4, 1000);
  counted.syscalls.front().errnos.emplace();
  const stats::WindowSummary unknown = window(4, 1000);
  const std::vector<BudgetedWindow> windows = {{"S.Both", "S.Both", "p", "test", subject(counted), subject(counted)},
                                               {"S.Now", "S.Now", "p", "test", subject(counted), subject(unknown)},
                                               {"S.New", "S.New", "p", "test", subject(counted), std::nullopt}};
  const Judgement judged = judge({budget("measure = \"errors\"\nmax-growth = 0\n")}, windows);
  ASSERT_EQ(judged.unjudged.size(), 1U);
  EXPECT_EQ(judged.unjudged.front().second, "not measured in 1 of 3 tests: S.Now");
  EXPECT_EQ(judged.kept, 1U);
}

TEST(Judge, TakesPercentilesOfNeighbouringBucketsForOneValue) {
  const stats::WindowSummary one = window(4000, 1000);
  Subject before = subject(one);
  Subject now = subject(one);
  before.percentiles_ns[{"write", 99}] = 1000;  // buckets here are 64 ns wide
  const Budget limit = budget("measure = \"p99\"\nmax-growth = \"1%\"\n");
  const auto exceeded = [&](double ns) {
    now.percentiles_ns[{"write", 99}] = ns;
    return judge({limit}, {{"S.T", "S.T", "p", "test", now, before}}).exceeded.size();
  };
  EXPECT_EQ(exceeded(1050), 0U);
  EXPECT_EQ(exceeded(1300), 1U);
}

}  // namespace
}  // namespace syscost::bench::budgets
