// SPDX-License-Identifier: MIT
//
// Code in children of for_each_failure and for_each_crash: how it ends, what it says, and that nothing of it is left.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "syscost/crash.h"
#include "syscost/failures.h"
#include "syscost/faults.h"
#include "syscost/gtest.h"

namespace {

using syscost::AfterFailure;
using syscost::CrashPoint;
using syscost::CrashReport;

const pid_t g_test = getpid();

bool is_in_child() {
  return getpid() != g_test;
}

bool write_fails() {
  return write(STDERR_FILENO, "", 0) != 0;
}

/// The outcome of a body that makes one call, which fails, and then `what_happens`.
syscost::SweptFailure outcome(const std::function<bool()>& what_happens,
                              std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
  syscost::SweepOptions options;
  options.errors = {EIO};
  options.limit = limit;
  const syscost::Sweep sweep = syscost::for_each_failure(
      "write", [&] { return write_fails() ? what_happens() : true; }, options);
  EXPECT_EQ(sweep.why_not_isolated, "");
  EXPECT_EQ(sweep.failures.size(), 1U) << sweep;
  return sweep.failures.empty() ? syscost::SweptFailure() : sweep.failures[0];
}

/// A pipe of which each process that the code starts has the writing end.
class Watched {
 public:
  Watched() {
    if (pipe2(ends_, O_CLOEXEC) != 0) std::abort();
  }
  ~Watched() { close(ends_[0]); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  /// False if a process has it still. Once.
  bool is_gone() {
    close(ends_[1]);
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    char text = 0;
    return read(ends_[0], &text, 1) == 0;
  }

 private:
  int ends_[2] = {-1, -1};
};

/// A process in a session of its own, of which no parent is left, and which never ends.
void start_daemon() {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (;;) pause();
  }
  waitpid(child, nullptr, 0);
}

class Contained : public testing::Test {
 protected:
  Contained() {
    std::string folder = std::filesystem::temp_directory_path() / "contained-XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~Contained() override { std::filesystem::remove_all(folder_); }

  /// A file is made; the check runs in a child for each of the two states.
  CrashReport check(const std::function<bool(const CrashPoint&)>& check) {
    syscost::CrashOptions options;
    options.in_child = true;
    const CrashReport report = syscost::for_each_crash(
        folder_, [&] { close(open((folder_ + "/a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); }, check, options);
    EXPECT_EQ(report.states, 2U) << report;
    std::filesystem::remove(folder_ + "/a");
    return report;
  }

  std::string folder_;
};
using Refused = Contained;

TEST_F(Contained, DaemonsAreKilled) {
  Watched watched;
  EXPECT_EQ(outcome([] {
              start_daemon();
              return false;
            }).outcome,
            AfterFailure::reported);
  EXPECT_EQ(outcome(
                [] {
                  start_daemon();
                  for (;;) pause();
                  return true;
                },
                std::chrono::milliseconds(50))
                .outcome,
            AfterFailure::hung);
  const CrashReport report = check([](const CrashPoint&) {
    start_daemon();
    return true;
  });
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_TRUE(watched.is_gone());
}

TEST_F(Contained, TheAnswerComesThoughAllDescriptorsAreClosed) {
  const std::string path = folder_ + "/of_the_body";
  const syscost::SweptFailure failure = outcome([&] {
    for (int i = STDERR_FILENO + 1; i < 1024; ++i) close(i);
    for (int i = 0; i < 20; ++i) open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return false;
  });
  EXPECT_EQ(failure.outcome, AfterFailure::leaked);
  EXPECT_NE(failure.detail.find("of_the_body"), std::string::npos) << failure.detail;
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
}

TEST_F(Contained, AForkChildOfTheCodeAnswersNothing) {
  const auto forks = [] {
    const pid_t child = fork();
    if (child == 0) return true;
    waitpid(child, nullptr, 0);
    return false;
  };
  EXPECT_EQ(outcome(forks).outcome, AfterFailure::reported);
  EXPECT_EQ(check([&](const CrashPoint&) { return forks(); }).failed_states, 2U);
}

/// True if the handler of SIGCHLD, which counts in `heard`, hears that a child has ended.
bool hears_of_a_child(const volatile int& heard) {
  constexpr timespec kLimit = {60, 0};
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &child, &before);  // so that it comes in ppoll()
  const int heard_before = heard;
  if (fork() == 0) _exit(0);
  const bool is_interrupted = ppoll(nullptr, 0, &kLimit, &before) == -1 && errno == EINTR;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_interrupted && heard > heard_before;
}

TEST_F(Contained, WhatTheProgramDoesWithSigchldPlaysNoPart) {
  static volatile int heard = 0;
  heard = 0;  // the test may be repeated
  struct sigaction before {};
  struct sigaction reaps {};
  reaps.sa_handler = [](int) {
    const int kept = errno;
    heard = heard + 1;
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    errno = kept;
  };
  sigaction(SIGCHLD, &reaps, &before);
  const auto aborts = []() -> bool { std::abort(); };
  EXPECT_EQ(outcome(aborts).outcome, AfterFailure::crashed);
  EXPECT_EQ(check([&](const CrashPoint&) { return aborts(); }).failed.at(0).message, "the check was ended by: Aborted");
  EXPECT_EQ(heard, 0);
  // It hears of its own child, also in the code.
  EXPECT_TRUE(hears_of_a_child(heard));
  EXPECT_EQ(outcome([] { return !hears_of_a_child(heard); }).outcome, AfterFailure::reported);
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(outcome(aborts).outcome, AfterFailure::crashed);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST_F(Contained, OtherChildrenAreLeftAlone) {
  const pid_t other = fork();
  if (other == 0) {
    for (;;) pause();
  }
  EXPECT_EQ(outcome([] { return false; }).outcome, AfterFailure::reported);
  EXPECT_EQ(waitpid(other, nullptr, WNOHANG), 0);
  kill(other, SIGKILL);
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
}

TEST_F(Contained, NoLimitIsTooLong) {
  EXPECT_EQ(outcome([] { return false; }, std::chrono::nanoseconds::max()).outcome, AfterFailure::reported);
}

TEST_F(Contained, CodeThatKillsWhatWatchesItHasCrashed) {
  EXPECT_EQ(outcome([] {
              kill(getppid(), SIGKILL);
              for (;;) pause();
              return true;
            }).outcome,
            AfterFailure::crashed);
}

TEST_F(Contained, WhatWasPrintedBeforeIsNotPrintedAgain) {
  std::printf("printed before");
  EXPECT_TRUE(check([](const CrashPoint&) {
                std::printf("\nprinted by a check\n");
                return true;
              }).ok());
}

TEST_F(Contained, AFaultThatIsOpenOutsideKeepsRunsInTheProcess) {
  const syscost::Fault outside("fsync", EIO);
  bool was_in_child = false;
  syscost::SweepOptions options;
  options.errors = {EIO};
  const syscost::Sweep sweep = syscost::for_each_failure(
      "write",
      [&] {
        was_in_child = is_in_child();
        EXPECT_EQ(fsync(STDERR_FILENO), -1);
        return !write_fails();
      },
      options);
  EXPECT_EQ(sweep.count(AfterFailure::reported), 1U) << sweep;
  EXPECT_FALSE(was_in_child);
  EXPECT_NE(sweep.why_not_isolated.find("a Fault or a Forbid is open"), std::string::npos) << sweep.why_not_isolated;
}

TEST_F(Refused, ByAnAssertionInAChild) {
  std::printf("%s\n", to_string(check([](const CrashPoint&) {
                        EXPECT_TRUE(false);
                        return true;
                      })).c_str());
}

/// Its processes write to the descriptor that the variable names, and hold it until they are killed.
TEST(Endless, RunsUntilItIsKilled) {
  const char* const held = std::getenv("HELD");
  if (held == nullptr) GTEST_SKIP() << "it has no end by itself";
  const int pipe = std::atoi(held);
  fcntl(pipe, F_SETFD, FD_CLOEXEC);
  outcome(
      [&] {
        start_daemon();
        if (write(pipe, "x", 1) != 1) std::abort();
        for (;;) pause();
        return true;
      },
      std::chrono::hours(1));
}

}  // namespace
