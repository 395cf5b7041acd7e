// SPDX-License-Identifier: MIT
#include "extras/profilers/session/findings.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <memory_resource>
#include <utility>
#include <vector>

namespace syscost::session {
namespace {

using profilers::Output;
using profilers::SyscallFigures;

class ToolCheckTest : public ::testing::Test {
 protected:
  ToolCheckTest() {
    output_.script = "syslat";
    output_.counts_syscalls = true;
  }
  void count(int number, std::uint64_t calls, std::uint64_t restarts = 0) {
    Tally& tally = counted_.table.at({Abi::x86_64, static_cast<std::uint32_t>(number)});
    tally.entries = calls + restarts;
    tally.calls = calls;
    tally.restarts = restarts;
  }
  SyscallFigures& see(int number, std::uint64_t times) {
    SyscallFigures& figures = output_.syscalls.emplace_back();
    figures.number = number;
    figures.entries = figures.returned = times;
    return figures;
  }
  ToolCheck check() const { return check_tool(output_, counted_); }
  std::string line() const { return check_line(output_, check()); }

  Output output_;
  detail::CostData counted_{std::pmr::new_delete_resource()};
};

TEST_F(ToolCheckTest, SaysThatEqualCountsAreEqual) {
  count(SYS_write, 512000);
  count(SYS_read, 3);
  see(SYS_write, 512000);
  see(SYS_read, 3);
  EXPECT_TRUE(check().agrees());
  EXPECT_EQ(line(), "syslat: 512000 write, 3 read, as counted");
}

TEST_F(ToolCheckTest, SaysBothNumbersWhereTheyDiffer) {
  count(SYS_write, 512000);
  see(SYS_write, 511990);
  EXPECT_FALSE(check().agrees());
  EXPECT_EQ(line(),
            "syslat: 511990 write; NOT as counted: write entries 511990 seen, 512000 counted, write returned 511990 "
            "seen, 512000 counted");
  EXPECT_FALSE(check().is_blind());
}

TEST_F(ToolCheckTest, TakesASyscallThatTheToolDoesNotNameForNone) {
  count(SYS_write, 5);
  count(SYS_close, 1);
  see(SYS_write, 5);
  EXPECT_EQ(differences(check()), "close entries 0 seen, 1 counted, close returned 0 seen, 1 counted");
}

TEST_F(ToolCheckTest, CallsAToolBlindThatSawNothingOfSomething) {
  count(SYS_write, 5);
  EXPECT_TRUE(check().is_blind());
  counted_.table.clear();
  EXPECT_FALSE(check().is_blind());
  EXPECT_EQ(line(), "syslat: no syscalls, as counted");
}

TEST_F(ToolCheckTest, CountsTripsThatWereStartedAgain) {
  count(SYS_read, 1, 2);
  see(SYS_read, 3);
  EXPECT_TRUE(check().agrees());
}

TEST_F(ToolCheckTest, ComparesTotalsWhereTheKernelWentOnWithACall) {
  count(SYS_nanosleep, 1, 1);
  see(SYS_nanosleep, 1);
  see(SYS_restart_syscall, 1);
  EXPECT_TRUE(check().agrees()) << differences(check());
  see(SYS_close, 1);
  EXPECT_EQ(differences(check()), "all entries 3 seen, 2 counted, all returned 3 seen, 2 counted");
}

TEST_F(ToolCheckTest, ComparesOnlyWhatTheFilterCounts) {
  counted_.filter = Filter::parse("write").value();
  count(SYS_write, 5);
  see(SYS_write, 5);
  see(SYS_read, 7);
  EXPECT_TRUE(check().agrees());
  EXPECT_EQ(check().tool_total, 5U);
}

TEST_F(ToolCheckTest, LeavesForeignCallsOut) {
  counted_.table.at({Abi::i386, 4}).entries = 9;
  EXPECT_TRUE(check().agrees());
  EXPECT_FALSE(check().is_blind());
}

TEST_F(ToolCheckTest, ComparesWhatAScriptKnows) {
  count(SYS_write, 5);
  see(SYS_write, 5).returned.reset();
  ASSERT_EQ(check().numbers.size(), 1U);
  EXPECT_EQ(check().numbers[0].what, "entries");
}

class ToolCheckByCallsTest : public ToolCheckTest {
 protected:
  ToolCheckByCallsTest() { counted_.measured.entries = false; }
  SyscallFigures& see_with_errors(int number, std::uint64_t times, std::vector<std::pair<int, std::uint64_t>> errors) {
    SyscallFigures& figures = see(number, times);
    figures.has_errors = true;
    figures.errors = std::move(errors);
    return figures;
  }
};

TEST_F(ToolCheckByCallsTest, ComparesCallsWithReturns) {
  count(SYS_write, 5);
  see_with_errors(SYS_write, 5, {{EBADF, 2}});
  EXPECT_EQ(line(), "syslat: 5 write, as counted");
  count(SYS_write, 6);
  EXPECT_EQ(differences(check()), "write returned 5 seen, 6 counted");
}

TEST_F(ToolCheckByCallsTest, SaysThatTheToolDidNotSeeACall) {
  count(SYS_write, 5);
  count(SYS_close, 1);
  see_with_errors(SYS_write, 5, {});
  EXPECT_EQ(differences(check()), "close returned 0 seen, 1 counted");
}

TEST_F(ToolCheckByCallsTest, LeavesOutCallsThatTheKernelStartedAgain) {
  count(SYS_read, 1);
  see_with_errors(SYS_read, 3, {{512, 2}});
  EXPECT_TRUE(check().numbers.empty());
  EXPECT_EQ(line(), "syslat: 3 read, not compared: what the backend counts is not what the script counts");
}

TEST_F(ToolCheckByCallsTest, LeavesOutWhatTheBackendDoesInTheProgram) {
  count(SYS_write, 5);
  see_with_errors(SYS_write, 5, {});
  see_with_errors(SYS_rt_sigreturn, 3, {});
  see_with_errors(SYS_prctl, 1, {});
  EXPECT_EQ(line(), "syslat: 5 write, 3 rt_sigreturn, 1 prctl, as counted");
  count(SYS_rt_sigreturn, 4);
  EXPECT_EQ(differences(check()), "rt_sigreturn returned 3 seen, 4 counted");
}

TEST_F(ToolCheckByCallsTest, ComparesNothingWithAScriptThatKnowsNoReturns) {
  count(SYS_write, 5);
  see(SYS_write, 5).returned.reset();
  EXPECT_TRUE(check().numbers.empty());
  EXPECT_FALSE(check().is_blind());
}

TEST_F(ToolCheckTest, WritesJson) {
  count(SYS_write, 5);
  see(SYS_write, 4).returned.reset();
  EXPECT_EQ(check_json(output_, check(), "ebpf"),
            "{\"script\": \"syslat\", \"counted_by\": \"ebpf\", \"agrees\": false, \"lost_events\": 0, \"numbers\": [\n"
            "  {\"syscall\": \"write\", \"what\": \"entries\", \"seen\": 4, \"counted\": 5}]}\n");
}

}  // namespace
}  // namespace syscost::session
