// SPDX-License-Identifier: MIT
//
// Tests the oracle's reader with logs in strace's own form: an oracle that miscounts proves nothing.
#include "strace_log.h"

#include <gtest/gtest.h>

#include <sstream>

namespace conformance {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

std::string between_markers(const std::string& lines) {
  return "100   write(-1, \"syscost-begin a/\", 16) = -1 EBADF (Bad file descriptor)\n" + lines +
         "100   write(-1, \"syscost-end a/\", 14) = -1 EBADF (Bad file descriptor)\n"
         "100   exit_group(0)                     = ?\n"
         "100   +++ exited with 0 +++\n";
}

StraceLog parse(const std::string& text) {
  std::istringstream in(text);
  return StraceLog::parse(in);
}

StraceWindow window_of(const std::string& lines) {
  StraceLog log = parse(between_markers(lines));
  EXPECT_TRUE(log.errors().empty()) << log.errors().front();
  std::optional<StraceWindow> window = log.window("a/");
  EXPECT_TRUE(window.has_value());
  return window.value_or(StraceWindow());
}

TEST(StraceLog, CountsOnlyBetweenTheMarkers) {
  StraceLog log = parse("100   getpid()                          = 100\n" + between_markers("100   getppid() = 1\n"));
  EXPECT_EQ(log.window("a/")->entries, (Counts{{"getppid", 1}}));
  EXPECT_FALSE(log.window("b/").has_value());
}

TEST(StraceLog, PutsUnfinishedAndResumedHalvesTogether) {
  StraceWindow window = window_of(
      "100   read(3,  <unfinished ...>\n"
      "100   <... read resumed>\"x = y\", 5)          = 5\n");
  EXPECT_EQ(window.entries, (Counts{{"read", 1}}));
  EXPECT_TRUE(window.in_flight.empty());
}

// The lines of strace for dispatch: it is switched on; the return of a handler is trapped, and syscost makes it.
const std::string kOn = "100   prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0x7f00, 0x45c, 0x7f10) = 0\n";
const std::string kHandlerReturns =
    "100   --- SIGSYS {si_signo=SIGSYS, si_code=SYS_USER_DISPATCH, si_syscall=__NR_rt_sigreturn} ---\n"
    "100   rt_sigreturn({mask=[]})           = 15\n"
    "100   rt_sigreturn({mask=[]})           = 0\n";

TEST(StraceLog, LeavesOutWhatDispatchingItselfCalls) {
  StraceWindow window = window_of(
      "100   --- SIGSYS {si_signo=SIGSYS, si_code=SYS_USER_DISPATCH, si_syscall=__NR_getppid} ---\n"
      "100   rt_sigreturn({mask=[]})           = 110\n"
      "100   getppid()                         = 1\n"
      "100   --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER} ---\n" +
      kHandlerReturns + kOn);
  EXPECT_EQ(window.entries, (Counts{{"getppid", 1}, {"rt_sigreturn", 1}}));
}

TEST(StraceLog, LeavesOutHowHandlersAreEnteredUnderDispatch) {
  StraceWindow window =
      window_of(kOn +
                "100   --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER} ---\n"
                "100   rt_sigreturn({mask=[USR1]})       = 0\n"
                "100   getppid()                         = 1\n" +
                kHandlerReturns +
                "100   sigaltstack({ss_sp=0x7f, ss_flags=0, ss_size=12288}, NULL) = 0\n"
                "100   sigaltstack(NULL, NULL)           = 0\n"
                "100   rt_sigprocmask(0xffffffff /* SIG_??? */, [], NULL, 8) = -1 EINVAL (Invalid argument)\n");
  EXPECT_EQ(window.entries, (Counts{{"getppid", 1}, {"rt_sigreturn", 1}, {"sigaltstack", 1}}));
}

TEST(StraceLog, LeavesOutHowASigsysIsSentAndAwaited) {
  StraceWindow window = window_of(kOn +
                                  "100   getuid()                          = 0\n"
                                  "100   tgkill(100, 100, 0)               = 0\n"
                                  "100   getuid()                          = 0\n"
                                  "100   rt_sigprocmask(SIG_BLOCK, ~[], [], 8) = 0\n"
                                  "100   rt_sigprocmask(SIG_SETMASK, [], NULL, 8) = 0\n"
                                  "100   rt_tgsigqueueinfo(100, 100, SIGSYS, {si_signo=SIGSYS, si_code=-0x5343}) = 0\n"
                                  "100   rt_sigprocmask(SIG_BLOCK, [SYS], NULL, 8) = 0\n"
                                  "100   rt_sigtimedwait([SYS], {si_signo=SIGSYS}, NULL, 8) = 31 (SIGSYS)\n"
                                  "100   rt_sigprocmask(SIG_UNBLOCK, [SYS], NULL, 8) = 0\n"
                                  "100   rt_sigprocmask(SIG_SETMASK, [], NULL, 8) = 0\n");
  EXPECT_EQ(window.entries, (Counts{{"getuid", 1}, {"rt_sigprocmask", 1}, {"rt_sigtimedwait", 1}, {"tgkill", 1}}));
}

TEST(StraceLog, LeavesOutHowAThreadIsArmed) {
  StraceWindow window = window_of(
      "100   gettid()                          = 100\n"
      "100   gettid()                          = 100\n" +
      kOn);
  EXPECT_EQ(window.entries, (Counts{{"gettid", 1}}));
}

TEST(StraceLog, CountsTheProgramsOwnDispatch) {
  StraceWindow window = window_of(
      "100   prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, 0x7f10) = 0\n"
      "100   --- SIGSYS {si_signo=SIGSYS, si_code=SYS_USER_DISPATCH, si_syscall=__NR_getppid} ---\n"
      "100   rt_sigreturn({mask=[]})           = 42\n"
      "100   prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) = 0\n");
  EXPECT_EQ(window.entries, (Counts{{"prctl", 2}, {"rt_sigreturn", 1}}));
}

TEST(StraceLog, TellsCallsWithoutReturnAndInterruptedOnes) {
  StraceWindow window = window_of(
      "100   read(3, 0x7f, 1)                  = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n"
      "100   clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 101\n"
      "101   exit(0)                           = ?\n"
      "101   +++ exited with 0 +++\n");
  EXPECT_EQ(window.interrupted, (Counts{{"read", 1}}));
  EXPECT_EQ(window.no_return, (Counts{{"exit", 1}}));
}

TEST(StraceLog, CountsThreadsAndLeavesChildrenOut) {
  StraceWindow window = window_of(
      "100   clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} <unfinished ...>\n"
      "101   getppid()                         = 1\n"
      "100   <... clone3 resumed> => {parent_tid=[101]}, 88) = 101\n"
      "101   clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD, parent_tid=[102]) = 102\n"
      "102   getuid()                          = 0\n"
      "100   clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 103\n"
      "103   getgid()                          = 0\n"
      "103   +++ exited with 0 +++\n");
  EXPECT_EQ(window.entries, (Counts{{"clone", 2}, {"clone3", 1}, {"getppid", 1}, {"getuid", 1}}));
}

TEST(StraceLog, TellsCarriedInAndInFlightCalls) {
  std::string text =
      "101   read(3,  <unfinished ...>\n"
      "100   clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 101\n"
      "100   clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 102\n" +
      between_markers(
          "101   <... read resumed>\"x\", 1)          = 1\n"
          "102   futex(0x7f, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>\n");
  StraceWindow window = *parse(text).window("a/");
  EXPECT_EQ(window.entries, (Counts{{"futex", 1}}));
  EXPECT_EQ(window.carried_in, (Counts{{"read", 1}}));
  EXPECT_EQ(window.in_flight, (Counts{{"futex", 1}}));
}

TEST(StraceLog, AddsRestartSyscallToTheCallItContinues) {
  StraceWindow window = window_of(
      "100   nanosleep({tv_sec=1, tv_nsec=0}, 0x7ffe) = ? ERESTART_RESTARTBLOCK (Interrupted by signal)\n"
      "100   --- SIGSTOP {si_signo=SIGSTOP, si_code=SI_USER, si_pid=7, si_uid=0} ---\n"
      "100   --- stopped by SIGSTOP ---\n"
      "100   restart_syscall(<... resuming interrupted nanosleep ...>) = 0\n");
  EXPECT_EQ(window.entries, (Counts{{"nanosleep", 2}}));
}

TEST(StraceLog, NamesUnnamedNumbersAsSyscostDoes) {
  StraceWindow window = window_of("100   syscall_0x190(0, 0, 0, 0, 0, 0) = -1 ENOSYS (Function not implemented)\n");
  EXPECT_EQ(window.entries, (Counts{{"syscall_400", 1}}));
}

TEST(StraceLog, ACallInWhichItsThreadDiesIsNotInFlight) {
  StraceWindow window = window_of(
      "100   clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 101\n"
      "101   exit(0 <unfinished ...>\n"
      "101   <... exit resumed>)                   = ?\n"
      "101   +++ exited with 0 +++\n");
  EXPECT_EQ(window.entries, (Counts{{"clone3", 1}, {"exit", 1}}));
  EXPECT_TRUE(window.in_flight.empty());
}

TEST(StraceLog, TellsEntriesThatASignalEndedToBeMadeAgain) {
  StraceWindow window = window_of(
      "100   close(3)                          = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n"
      "100   --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9} ---\n"
      "100   close(3)                          = 0\n");
  EXPECT_EQ(window.entries, (Counts{{"close", 2}}));
  EXPECT_EQ(window.restarted, (Counts{{"close", 1}}));
}

TEST(StraceLog, FollowsExecveOfAThreadThatIsNotTheLeader) {
  StraceWindow window = window_of(
      "100   clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 101\n"
      "100   futex(0x7f, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>\n"
      "101   execve(\"/bin/true\", [\"true\"], NULL <unfinished ...>\n"
      "100   <... futex resumed>)                  = ?\n"
      "100   +++ superseded by execve in pid 101 +++\n"
      "100   <... execve resumed>)                 = 0\n"
      "100   getppid()                             = 1\n");
  EXPECT_EQ(window.entries, (Counts{{"clone3", 1}, {"execve", 1}, {"futex", 1}, {"getppid", 1}}));
  EXPECT_EQ(window.no_return, (Counts{{"futex", 1}}));
  EXPECT_EQ(window.in_flight, Counts());
  // The thread that called it has no other call to resume, and its number is free.
  EXPECT_EQ(parse("101   execve(\"x\", [], NULL <unfinished ...>\n"
                  "100   +++ superseded by execve in pid 101 +++\n"
                  "100   <... execve resumed>) = 0\n"
                  "101   <... execve resumed>) = 0\n")
                .errors()
                .size(),
            1U);
  EXPECT_EQ(parse("100   +++ superseded by execve in pid 101 +++\n").errors().size(), 1U);
}

TEST(StraceLog, ReportsALineItDoesNotUnderstand) {
  EXPECT_EQ(parse("100   getpid()  = 100\nwhat is this\n").errors().size(), 1U);
  EXPECT_EQ(parse("100   <... read resumed>\"x\", 1) = 1\n").errors().size(), 1U);
  EXPECT_EQ(parse("100   read(3,  <unfinished ...>\n100   getpid() = 100\n").errors().size(), 1U);
}

TEST(StraceLog, IgnoresMarkersOfAChildProcess) {
  StraceWindow window = window_of(
      "100   fork()                            = 103\n"
      "103   write(-1, \"syscost-begin a/\", 16) = -1 EBADF (Bad file descriptor)\n"
      "103   write(-1, \"syscost-end a/\", 14)   = -1 EBADF (Bad file descriptor)\n"
      "100   getppid()                         = 1\n");
  EXPECT_EQ(window.entries, (Counts{{"fork", 1}, {"getppid", 1}}));
}

}  // namespace
}  // namespace conformance
