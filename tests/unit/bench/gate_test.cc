// SPDX-License-Identifier: MIT
#include "commands/shared/gate.h"

#include <gtest/gtest.h>

namespace syscost::bench::commands {
namespace {

using Words = std::vector<std::string_view>;
using judge::Comparison;
using judge::Verdict;
using stats::WindowSummary;

constexpr cli::Gate kCounts = {.counts = true};
constexpr cli::Gate kAll = {.counts = true, .wall = true, .cpu = true};

WindowSummary window(std::map<std::string_view, std::size_t> outcomes, std::string_view kind = "test") {
  WindowSummary one;
  one.name = "S.T";
  one.kind = kind;
  one.n = 2;
  one.calls = stats::Spread{2, 0, 0, 0};
  one.lost = 0;
  one.outcomes = std::move(outcomes);
  return one;
}

Words failures(const WindowSummary* old_window, const WindowSummary* new_window, const cli::Gate& gate = kCounts) {
  return gate_failures(judge::compare_windows(old_window, new_window, {}), gate);
}

const WindowSummary kPassed = window({{"passed", 2}});
const WindowSummary kFailed = window({{"passed", 1}, {"failed", 1}});
const WindowSummary kSkipped = window({{"skipped", 2}});
const WindowSummary kEnded = window({{"passed", 1}});

TEST(Gate, FailsWhatIsNotMeasuredAnyMoreWhateverIsGated) {
  for (const cli::Gate& gate : {kCounts, cli::Gate{.cpu = true}}) {
    EXPECT_EQ(failures(&kPassed, nullptr, gate), Words{"missing"});
    EXPECT_EQ(failures(&kPassed, &kFailed, gate), Words{"failed"});
    EXPECT_EQ(failures(&kPassed, &kSkipped, gate), Words{"skipped"});
    EXPECT_EQ(failures(&kPassed, &kEnded, gate), Words{"crashed"});
    EXPECT_EQ(failures(&kPassed, &kPassed, gate), Words());
  }
  EXPECT_EQ(failures(&kPassed, nullptr, {}), Words()) << "--gate none";
}

TEST(Gate, DoesNotFailWhatWasNoBetterBefore) {
  for (const WindowSummary* one : {&kFailed, &kSkipped, &kEnded}) {
    EXPECT_EQ(failures(one, one), Words());
    EXPECT_EQ(failures(one, &kPassed), Words());
  }
}

TEST(Gate, FailsANewTestThatFails) {
  EXPECT_EQ(failures(nullptr, &kFailed), Words{"failed"});
  EXPECT_EQ(failures(nullptr, &kEnded), Words{"crashed"});
  EXPECT_EQ(failures(nullptr, &kPassed), Words());
  EXPECT_EQ(failures(nullptr, &kSkipped), Words());
  EXPECT_EQ(failures(nullptr, &kFailed, {.counts = true, .allows_failed = true}), Words());
}

TEST(Gate, FailsATestThatWasSkippedAndFails) {
  EXPECT_EQ(failures(&kSkipped, &kFailed), Words{"failed"});
}

TEST(Gate, DoesNotFailWhatIsAllowed) {
  EXPECT_EQ(failures(&kPassed, nullptr, {.counts = true, .allows_missing = true}), Words());
  EXPECT_EQ(failures(&kPassed, &kFailed, {.counts = true, .allows_failed = true}), Words());
  EXPECT_EQ(failures(&kPassed, &kEnded, {.counts = true, .allows_failed = true}), Words());
  EXPECT_EQ(failures(&kPassed, &kSkipped, {.counts = true, .allows_skipped = true}), Words());
  EXPECT_EQ(failures(&kPassed, &kSkipped, {.counts = true, .allows_failed = true}), Words{"skipped"});
}

TEST(Gate, LetsSetUpsAndScopesVanish) {
  for (const std::string_view kind : {"suite", "environment", "scope", "process"}) {
    const WindowSummary one = window({}, kind);
    EXPECT_EQ(failures(&one, nullptr), Words()) << kind;
  }
  for (const std::string_view kind : {"benchmark", "loop"}) {
    const WindowSummary one = window({}, kind);
    EXPECT_EQ(failures(&one, nullptr), Words{"missing"}) << kind;
    EXPECT_EQ(failures(&one, &one), Words()) << kind;
  }
}

TEST(Gate, SaysByWhichMeasures) {
  Comparison row = judge::compare_windows(&kPassed, &kPassed, {});
  row.verdict = Verdict::regressed;
  row.time.emplace().verdict = Verdict::regressed;
  row.cpu.emplace().verdict = Verdict::regressed;
  EXPECT_EQ(gate_failures(row, kAll), (Words{"counts", "wall", "cpu"}));
  EXPECT_EQ(gate_failures(row, {.cpu = true}), Words{"cpu"});
  row.is_plain = true;
  EXPECT_EQ(gate_failures(row, kCounts), Words()) << "its verdict is that of the times";
  EXPECT_EQ(gate_line({row}, kAll), "gate: 1 test fails: 1 by wall, 1 by cpu");
  EXPECT_EQ(gate_line({row}, kCounts), "gate: no test fails (counts)");
  EXPECT_EQ(gate_line({row}, {}), "gate: none");
}

TEST(Gate, IsAnsweredByOneOfTwoTimes) {
  Comparison row = judge::compare_windows(&kPassed, &kPassed, {});
  row.time.emplace().verdict = Verdict::inconclusive;
  EXPECT_FALSE(lacks_answer(row, kCounts));
  EXPECT_TRUE(lacks_answer(row, kAll));
  row.cpu.emplace().verdict = Verdict::same;
  EXPECT_FALSE(lacks_answer(row, kAll));
  EXPECT_TRUE(lacks_answer(row, {.wall = true}));
}

}  // namespace
}  // namespace syscost::bench::commands
