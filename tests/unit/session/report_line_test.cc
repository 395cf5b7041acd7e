// SPDX-License-Identifier: MIT
#include "session/windows/recorder.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <memory>

#include "core/cost_data.h"

namespace syscost::session {
namespace {

std::shared_ptr<detail::CostData> cost_data() {
  return std::make_shared<detail::CostData>(std::pmr::get_default_resource());
}

void count(detail::CostData& cost, std::uint32_t number, std::uint64_t calls, std::uint64_t ns_each) {
  Tally& tally = cost.table.at({Abi::x86_64, number});
  for (std::uint64_t i = 0; i < calls; ++i) tally.latency.add(ns_each);
  tally.entries += calls;
  tally.calls += calls;
}

TEST(FormatNs, KeepsThreeDigits) {
  EXPECT_EQ(format_ns(0), "0 ns");
  EXPECT_EQ(format_ns(999), "999 ns");
  EXPECT_EQ(format_ns(1000), "1.00 us");
  EXPECT_EQ(format_ns(12'340), "12.3 us");
  EXPECT_EQ(format_ns(131'400), "131 us");
  EXPECT_EQ(format_ns(999'600), "1.00 ms");
  EXPECT_EQ(format_ns(75'000'000'000), "75.0 s");
}

TEST(ReportLine, NamesCallsKernelTimeAndItsShare) {
  auto cost = cost_data();
  count(*cost, SYS_write, 1024, 128);
  EXPECT_EQ(report_line(*cost, 139'500), "1024 write, 131 us in the kernel, 94 % of wall");
}

TEST(ReportLine, SetsWaitingApartFromWork) {
  auto cost = cost_data();
  count(*cost, SYS_write, 1, 1000);
  count(*cost, SYS_futex, 1, 2'000'000);
  const std::string line = report_line(*cost, 4'000'000);
  EXPECT_NE(line.find(", 1.00 us in the kernel, 0.0 % of wall, 2.00 ms waiting"), std::string::npos) << line;
}

TEST(ReportLine, SaysThatThereWasNothing) {
  EXPECT_EQ(report_line(*cost_data(), 100), "no syscalls");
}

TEST(ReportLine, SaysTheSameWhereOnlyCallsAreMeasured) {
  auto cost = cost_data();
  cost->measured.entries = false;
  EXPECT_EQ(report_line(*cost, 100), "no syscalls");
  count(*cost, SYS_write, 2, 5);
  EXPECT_EQ(report_line(*cost, 100), "2 write, 10 ns in the kernel, 10 % of wall");
}

TEST(ReportLine, SaysUnderAFilterWhatWasCounted) {
  auto cost = cost_data();
  cost->filter = Filter::parse("%network,!accept").value();
  EXPECT_EQ(report_line(*cost, 100), "no syscalls (only %network,!accept counted)");
  count(*cost, SYS_sendto, 2, 500);
  EXPECT_EQ(report_line(*cost, 10'000),
            "2 sendto, 1.00 us in the kernel, 10 % of wall (only %network,!accept counted)");
}

TEST(ReportLine, LeavesTimesOutWhereTheyWereNotMeasured) {
  auto cost = cost_data();
  count(*cost, SYS_write, 2, 0);
  cost->measured.latency = false;
  EXPECT_EQ(report_line(*cost, 100), "2 write");
}

TEST(RemoveFrameworkWrites, TakesThemOutWhenAllWritesAreTheFrameworks) {
  CallTable removed(std::pmr::get_default_resource());
  auto cost = cost_data();
  count(*cost, SYS_write, 2, 100);
  count(*cost, SYS_openat, 1, 100);
  remove_framework_writes(cost->table, 2, removed);
  EXPECT_EQ(Cost(cost).entries("write"), 0);
  EXPECT_EQ(Cost(cost).entries(), 1);
  EXPECT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed.at({Abi::x86_64, SYS_write}).entries, 2U);
}

TEST(RemoveFrameworkWrites, TakesThemOutWhereOnlyCallsAreMeasured) {
  CallTable removed(std::pmr::get_default_resource());
  auto cost = cost_data();
  cost->measured.entries = false;
  cost->table.at({Abi::x86_64, SYS_write}).calls = 2;
  remove_framework_writes(cost->table, 2, removed);
  EXPECT_EQ(Cost(cost).calls("write"), 0);
}

TEST(RemoveFrameworkWrites, TakesThemOutOfAllLines) {
  CallTable removed(std::pmr::get_default_resource());
  auto cost = cost_data();
  SyscallId write{Abi::x86_64, SYS_write};
  for (const std::uint32_t stack : {3U, 4U}) {
    write.detail.origin = stack;
    cost->table.at(write).calls = 1;
  }
  remove_framework_writes(cost->table, 1, removed);
  EXPECT_EQ(Cost(cost).calls("write"), 2);
  remove_framework_writes(cost->table, 2, removed);
  EXPECT_EQ(Cost(cost).calls("write"), 0);
}

TEST(RemoveFrameworkWrites, LeavesAMixtureAlone) {
  CallTable removed(std::pmr::get_default_resource());
  auto cost = cost_data();
  count(*cost, SYS_write, 3, 100);
  remove_framework_writes(cost->table, 2, removed);
  EXPECT_EQ(Cost(cost).entries("write"), 3);
  remove_framework_writes(cost->table, 0, removed);
  EXPECT_EQ(Cost(cost).entries("write"), 3);
}

TEST(BreakdownPerCall, NamesWhatOneCallMakesAndItsChildren) {
  auto cost = cost_data();
  cost->measured.entries = true;
  EXPECT_EQ(breakdown_per_call(*cost, 10), "no syscalls");
  count(*cost, SYS_write, 10, 100);
  count(*cost, SYS_fsync, 5, 100);
  EXPECT_EQ(breakdown_per_call(*cost, 10), "1 write, 0.5 fsync a call");
  cost->programs.at("worker").at({Abi::x86_64, SYS_getppid}).entries = 30;
  EXPECT_EQ(breakdown_per_call(*cost, 10), "1 write, 0.5 fsync a call; child worker: 3 getppid a call");
}

}  // namespace
}  // namespace syscost::session
