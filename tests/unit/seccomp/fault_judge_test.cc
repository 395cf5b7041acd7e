// SPDX-License-Identifier: MIT
//
// Which calls meet the rules, from the side of the supervisor: the test is supervisor and process at once.
#include "extras/faults/seccomp/fault_judge.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "extras/faults/seccomp/fault_injector.h"

namespace syscost::seccomp {
namespace {

constexpr std::uint32_t kX32Bit = 0x4000'0000;

class FaultJudgeTest : public testing::Test {
 protected:
  FaultJudgeTest() {
    shared_->cookie = 1;
    shared_->notifies_everything = ledger_->notifies_everything = true;
    shared_->is_wait_killable = true;
    ledger_->measured = getpid();
  }
  ~FaultJudgeTest() override { close(process_); }

  FaultId open_rule(const FaultRule& rule) {
    const Result<FaultId> id = faults_.open(rule);
    EXPECT_TRUE(id.ok());
    return id.ok() ? id.value() : FaultId{};
  }
  static FaultRule rule_for(std::size_t number, int error) {
    FaultRule rule;
    rule.numbers.set(number);
    rule.result = -error;
    return rule;
  }
  Notification call(std::uint32_t number, std::uint32_t arch = AUDIT_ARCH_X86_64) const {
    return {.id = 1, .thread = static_cast<std::int32_t>(gettid()), .arch = arch, .number = number};
  }
  /// The errno of a call that is answered; 0 = it is made.
  int error_of(std::uint32_t number) {
    const Verdict verdict = judge_.ask(call(number));
    return verdict.is_answered ? static_cast<int>(-verdict.result) : 0;
  }

  std::unique_ptr<Shared, void (*)(Shared*)> shared_{map_shared(), unmap_shared};
  std::unique_ptr<Ledger, void (*)(Ledger*)> ledger_{map_ledger(), unmap_ledger};
  const int process_ = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  ForkDetector fork_detector_;
  Faults faults_{*shared_, fork_detector_};
  FaultJudge judge_{*shared_, *ledger_, process_};
};

TEST_F(FaultJudgeTest, ARuleOfAThreadEndsWithTheThreadWhichAnotherThreadsIdMayBe) {
  for (const auto& [number, arch] : {std::pair(std::uint32_t{SYS_exit}, std::uint32_t{AUDIT_ARCH_X86_64}),
                                     std::pair(SYS_exit | kX32Bit, std::uint32_t{AUDIT_ARCH_X86_64}),
                                     std::pair(std::uint32_t{1}, std::uint32_t{AUDIT_ARCH_I386})}) {
    const FaultId id = open_rule(rule_for(SYS_fsync, EIO));
    EXPECT_EQ(error_of(SYS_fsync), EIO);
    judge_.ask(call(number, arch));
    EXPECT_EQ(error_of(SYS_fsync), 0) << number << " of " << arch;
    EXPECT_EQ(faults_.counts(id).matches, 1U);
    faults_.close(id);
  }
  open_rule(rule_for(SYS_fsync, EPERM));  // the new thread's own
  EXPECT_EQ(error_of(SYS_fsync), EPERM);
}

TEST_F(FaultJudgeTest, ARuleOfAnotherBackendThatFollowsHasNotEnded) {
  for (int i = 0; i < 2; ++i) {
    Faults faults(*shared_, fork_detector_);
    EXPECT_TRUE(faults.open(rule_for(SYS_fsync, EIO)).ok());
    EXPECT_EQ(error_of(SYS_fsync), EIO);
    judge_.ask(call(SYS_exit));
    EXPECT_EQ(error_of(SYS_fsync), 0);
  }
}

TEST_F(FaultJudgeTest, AThreadWithTheIdOfOneThatEndedHasNumbersOfItsOwn) {
  FaultRule rule = rule_for(SYS_fsync, EIO);
  rule.is_process_wide = rule.is_per_thread = true;
  rule.first = rule.last = 2;
  open_rule(rule);
  EXPECT_EQ(error_of(SYS_fsync), 0);
  judge_.ask(call(SYS_exit));
  EXPECT_EQ(error_of(SYS_fsync), 0);
  EXPECT_EQ(error_of(SYS_fsync), EIO);
}

TEST_F(FaultJudgeTest, AsksWhichProgramRunsAfterAnExecutionByAnyAbi) {
  FaultRule rule = rule_for(SYS_setuid, 0);
  rule.is_process_wide = true;
  open_rule(rule);
  for (const Notification& execution : {call(SYS_execve), call(SYS_execveat), call(520 | kX32Bit), call(545 | kX32Bit),
                                        call(11, AUDIT_ARCH_I386), call(358, AUDIT_ARCH_I386)}) {
    ledger_->has_executed = false;
    judge_.ask(execution);
    EXPECT_TRUE(ledger_->has_executed) << execution.number << " of " << execution.arch;
    // This program still has the rules' memory, so it runs as before.
    EXPECT_TRUE(judge_.ask(call(SYS_setuid)).is_answered);
  }
}

TEST_F(FaultJudgeTest, AProcessWithTheIdOfTheMeasuredOneMeetsNone) {
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  const int file = static_cast<int>(syscall(SYS_pidfd_open, ended, 0));
  ASSERT_GE(file, 0);
  ASSERT_EQ(waitpid(ended, nullptr, 0), ended);
  FaultJudge later(*shared_, *ledger_, file);
  open_rule(rule_for(SYS_fsync, EIO));
  EXPECT_TRUE(judge_.ask(call(SYS_fsync)).is_answered);
  EXPECT_FALSE(later.ask(call(SYS_fsync)).is_answered);
  // Without such a file the program's memory tells.
  FaultJudge without(*shared_, *ledger_, -1);
  EXPECT_TRUE(without.ask(call(SYS_fsync)).is_answered);
  close(file);
}

TEST_F(FaultJudgeTest, AsksNoRuleUnlessItSeesEveryCall) {
  ledger_->notifies_everything = false;
  open_rule(rule_for(SYS_fsync, EIO));
  EXPECT_EQ(error_of(SYS_fsync), 0);
}

// The process that writes them may have given up rights that the supervisor has.
TEST_F(FaultJudgeTest, TrustsNoNumberInTheSharedMemory) {
  FaultRule rule = rule_for(SYS_fsync, EIO);
  rule.keeps_hits = true;
  const FaultId id = open_rule(rule);
  BookedRule& booked = shared_->faults.rule[id.place];
  shared_->faults.high = ~std::uint32_t{0};
  booked.hits = ~std::uint64_t{0};
  EXPECT_EQ(error_of(SYS_fsync), EIO);
  EXPECT_EQ(booked.hits.load(), 0U);
  judge_.ask(call(SYS_exit));
  EXPECT_EQ(error_of(SYS_fsync), 0);
  shared_->faults.high = 1;  // for the process's side
}

}  // namespace
}  // namespace syscost::seccomp
