// SPDX-License-Identifier: MIT
//
// Tests of doctest that forbid calls and let them fail, in a program that is linked with syscost and asks for nothing.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <syscost/crash.h>
#include <syscost/failures.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>

namespace {
std::atomic<bool> may_call{false};
std::atomic<int> error_of_thread{0};
std::thread thread_of_first_test;
}  // namespace
TEST_CASE("Starts a thread before the first fault") {
  thread_of_first_test = std::thread([] {
    while (!may_call) std::this_thread::yield();
    error_of_thread = write(-1, "", 0) < 0 ? errno : 0;
  });
}
TEST_CASE("Lets its call fail") {
  syscost::Fault fault("write", EINTR, syscost::each(), syscost::Reach::process);
  may_call = true;
  thread_of_first_test.join();
  CHECK(error_of_thread == EINTR);
}
TEST_CASE("Makes no forbidden call") {
  syscost::Forbid forbid("getppid");
  CHECK(getpid() > 0);
}
TEST_CASE("Makes a forbidden call") {
  syscost::Forbid forbid("getppid");
  CHECK(getppid() > 0);
}
TEST_CASE("Makes one in a section") {
  SUBCASE("none") {
    CHECK(true);
  }
  SUBCASE("one") {
    syscost::Forbid forbid("getppid", syscost::Reach::process);
    std::thread([] { getppid(); }).join();
  }
  SUBCASE("none again") {
    CHECK(true);
  }
}
TEST_CASE("Sweeps in this process") {
  syscost::SweepOptions options;
  options.errors = {EINTR};
  const auto body = [] { return write(STDERR_FILENO, "", 0) == 0 || errno == EINTR; };
  const syscost::Sweep sweep = syscost::for_each_failure("write", body, options);
  CHECK(sweep.is_clean());
  CHECK(sweep.why_not_isolated.find("does not say whether an assertion failed") != std::string::npos);
}
TEST_CASE("Power cuts with checks in children") {
  std::string folder = "/tmp/doctest_faults_XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::string made = folder + "/made";
  const auto body = [&] { mkdir(made.c_str(), 0700); };
  syscost::CrashOptions options;
  options.in_child = true;
  const auto asserts = [](const syscost::CrashPoint& point) { CHECK_FALSE(point.path.empty()); };
  const syscost::CrashReport unseen = syscost::for_each_crash(folder, body, asserts, options);
  rmdir(made.c_str());
  CHECK(unseen.failed_states == unseen.states);
  const auto answers = [](const syscost::CrashPoint& point) { return !point.path.empty(); };
  CHECK(syscost::for_each_crash(folder, body, answers, options).ok());
  rmdir(made.c_str());
  rmdir(folder.c_str());
}
