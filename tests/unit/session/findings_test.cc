// SPDX-License-Identifier: MIT
#include "extras/profilers/session/findings.h"

#include <gtest/gtest.h>

namespace syscost::session {
namespace {

using profilers::LatencyBucket;
using profilers::Output;
using profilers::SyscallFigures;

SyscallFigures figures(int number, std::uint64_t count) {
  SyscallFigures one;
  one.number = number;
  one.entries = one.returned = count;
  one.has_errors = true;
  one.errors = {{2, 1}};
  one.latency = {{256, count}};
  one.latency_sum_ns = 300 * count;
  one.latency_min_ns = 300 - count;
  one.latency_max_ns = 300 + count;
  return one;
}

Findings part(std::vector<SyscallFigures> syscalls, const std::string& text) {
  Output output;
  output.script = "syslat";
  output.counts_syscalls = true;
  output.summary = text;
  output.artifacts = {{"syslat.txt", text}, {"notes", text}};
  output.lost_events = 1;
  output.syscalls = std::move(syscalls);
  return {{"bpftrace", {output}}};
}

TEST(Findings, OfTwoStretchesAddUpAndTheirTextsBecomeNumberedParts) {
  Findings whole;
  add_part(whole, part({figures(1, 10)}, "one"));
  add_part(whole, part({figures(1, 5), figures(0, 3)}, "two"));
  const Output& output = whole.at(0).outputs.at(0);
  ASSERT_EQ(output.syscalls.size(), 2U);
  EXPECT_EQ(output.syscalls[0].entries, 15U);
  EXPECT_EQ(output.syscalls[0].latency, (std::vector<LatencyBucket>{{256, 15}}));
  EXPECT_EQ(output.syscalls[0].errors, (std::vector<std::pair<int, std::uint64_t>>{{2, 2}}));
  EXPECT_EQ(output.syscalls[0].latency_min_ns, 290U);
  EXPECT_EQ(output.syscalls[0].latency_max_ns, 310U);
  EXPECT_EQ(output.syscalls[1].entries, 3U);
  EXPECT_EQ(output.summary, "  part 1:\none\n  part 2:\ntwo");
  EXPECT_EQ(output.lost_events, 2U);
  std::vector<std::string> names;
  for (const auto& artifact : output.artifacts) names.push_back(artifact.name);
  EXPECT_EQ(names, (std::vector<std::string>{"syslat.txt", "notes", "syslat.2.txt", "notes.2"}));
}

TEST(Findings, TimesOfTwoStretchesAreRowsAndTheirSumsAreOne) {
  const auto stretch = [](std::uint64_t ns, std::uint64_t lost) -> Findings {
    Output output;
    output.script = "cupti";
    output.times = {{"add duration", "", {{1, ns}}, false}, {"all kernels", "so much", {{1, ns}}, true}};
    output.lost_events = lost;
    return {{"cupti", {output}}};
  };
  Findings whole;
  add_part(whole, stretch(20, 0));
  add_part(whole, stretch(30, 0));
  const std::vector<profilers::TimeFigure> expected = {{"add duration", "", {{1, 20}, {1, 30}}, false},
                                                       {"all kernels", "so much; then so much", {{1, 50}}, true}};
  EXPECT_EQ(whole.at(0).outputs.at(0).times, expected);
  add_part(whole, stretch(40, 1));
  ASSERT_EQ(whole.at(0).outputs.at(0).times.size(), 1U) << "a sum over a part is none";
  EXPECT_EQ(whole.at(0).outputs.at(0).times[0].rows.size(), 3U);
}

TEST(Findings, OfAnEmptyStretchAddNothingToTheSummary) {
  Findings whole;
  add_part(whole, part({}, "nothing"));
  add_part(whole, part({figures(1, 1)}, "something"));
  add_part(whole, part({}, "nothing"));
  EXPECT_EQ(whole[0].outputs[0].summary, "  part 2:\nsomething");
}

TEST(Findings, KnowNothingOfAFigureThatOneStretchLacks) {
  SyscallFigures unknown = figures(1, 5);
  unknown.latency_sum_ns.reset();
  Findings whole = part({figures(1, 10)}, "");
  add_part(whole, part({unknown}, ""));
  EXPECT_EQ(whole[0].outputs[0].syscalls[0].latency_sum_ns, std::nullopt);
}

TEST(Findings, TakeEachFigureFromOneScriptOnly) {
  ProfilerOutputs tool = part({figures(1, 10)}, "")[0];
  Output counter;
  counter.script = "syscount";
  counter.syscalls = {figures(1, 10), figures(3, 2)};
  tool.outputs[0].syscalls[0].has_errors = false;
  tool.outputs.push_back(counter);
  const std::vector<SyscallFigures> all = all_figures(tool);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].entries, 10U) << "two scripts saw the same ten calls";
  EXPECT_TRUE(all[0].has_errors) << "the second knows what the first did not look for";
  EXPECT_EQ(all[1].number, 3);
}

TEST(Findings, LoseTheFrameworksWritesOnlyWhereAllWritesAreIts) {
  ProfilerOutputs tool = part({figures(1, 2), figures(0, 2)}, "")[0];
  remove_framework_writes(tool, 1);
  EXPECT_EQ(tool.outputs[0].syscalls.size(), 2U);
  remove_framework_writes(tool, 2);
  ASSERT_EQ(tool.outputs[0].syscalls.size(), 1U);
  EXPECT_EQ(tool.outputs[0].syscalls[0].number, 0);
}

}  // namespace
}  // namespace syscost::session
