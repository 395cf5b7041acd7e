// SPDX-License-Identifier: MIT
//
// Assertions on syscalls for GoogleTest.
//
//     #include <syscost/gtest.h>
//
//     TEST(Log, BatchedWrite) {
//       EXPECT_SYSCALLS_LE("write", 1, log.flush(batch));          // selector, limit, statement
//       auto cost = syscost::measure([&] { log.flush(batch); });   // or a value first
//       EXPECT_LE(cost.calls("write"), 1) << cost;
//     }
//
//     EXPECT_NO_LEAKS(log.flush(batch));   // no descriptor, thread or child process stays
//     EXPECT_FAILURES_HANDLED("%file,write,fsync", log.flush(batch));   // each of its calls fails in turn
//     EXPECT_NO_SYSCALLS("%network", log.flush(batch));   // says which call was made all the same
//
// The first count the calls of the calling thread that returned a result to the program, by any selector of
// syscost/cost.h. If no backend can count, the test is skipped on a developer's machine and fails where CI is set;
// SYSCOST_UNAVAILABLE=skip or fail overrides this. A selector that names no syscall fails the test wherever
// libsyscost.so is. The reason is always printed. A test never passes because numbers are missing.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "syscost/crash.h"
#include "syscost/failures.h"
#include "syscost/faults.h"
#include "syscost/loop.h"
#include "syscost/syscost.h"

namespace syscost::gtest_detail {

/// The first 240 bytes of a long name, without half a character; names of templates can be pages long.
inline std::string start_of(const std::string& name) {
  constexpr std::size_t kMost = 240;
  if (name.size() <= kMost) return name;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end) + "...";
}

/// The lines with most calls, each in a line of `failure`.
inline void append_sites(testing::AssertionResult& failure, const std::vector<CallSite>& sites) {
  constexpr std::size_t kMostSites = 6;
  unsigned long long calls_of_others = 0;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (i >= kMostSites) {
      calls_of_others += sites[i].calls;
    } else {
      failure << "\n  " << sites[i].calls << ' ' << sites[i].syscall << ' ' << start_of(sites[i].place);
    }
  }
  if (sites.size() <= kMostSites) return;
  const std::size_t others = sites.size() - kMostSites;
  failure << "\n  and " << calls_of_others << " in " << others << (others == 1 ? " more line" : " more lines");
}

/// The verdict of one assertion. Its message has the whole cost and, with --syscost_where, the lines that made the
/// calls.
template <class Limit, class Holds>
testing::AssertionResult check_calls(const Cost& cost, const char* selector, const char* comparison, Limit limit,
                                     Holds holds, const char* statement) {
  const Count calls = cost.calls(selector);
  if (holds(calls, limit)) return testing::AssertionSuccess();
  testing::AssertionResult failure = testing::AssertionFailure();
  failure << "calls of \"" << selector << "\": expected " << comparison << ' ' << limit << ", counted " << calls
          << "\nby: " << statement;
  if (cost.available()) failure << "\nall syscalls: " << cost.to_string();
  append_sites(failure, call_sites(cost, selector));
  return failure;
}

/// The verdict of an EXPECT_NO_LEAKS: runs `body`, and says what it left open.
template <class Body>
testing::AssertionResult check_leaks(Body&& body, const char* statement) {
  const LeakCheck check;
  std::forward<Body>(body)();
  const std::string left = check.left();
  if (left.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "left open: " << left << "\nby: " << statement;
}

/// The verdict of an EXPECT_NO_SYSCALLS. A template, because a program without one must not refer to Forbid. `file` and
/// `line` are those of the assertion.
template <class Body>
testing::AssertionResult check_forbidden(const char* selector, Body&& body, const char* statement,
                                         const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  Forbid forbid(selector, Reach::thread, file, line);
  std::forward<Body>(body)();
  const std::string report = forbid.take_report();
  if (report.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << report << "\nby: " << statement;
}

/// The verdict of an EXPECT_FAILURES_HANDLED.
template <class Body>
testing::AssertionResult check_failures(const char* selector, Body&& body, const char* expression) {
  const Sweep sweep = for_each_failure(selector, std::forward<Body>(body));
  if (sweep.is_clean()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << sweep << "\nby: " << expression;
}

/// Calls `check`, and takes the failures of its assertions for its answer.
template <class Check>
crash_detail::Verdict check_crash_point(Check& check, const CrashPoint& point) {
  testing::TestPartResultArray results;
  crash_detail::Verdict verdict;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
    verdict = crash_detail::verdict_of(check, point);
  }
  for (int i = 0; i < results.size(); ++i) {
    if (!results.GetTestPartResult(i).failed()) continue;
    verdict.is_good = false;
    verdict.message.append(verdict.message.empty() ? "" : "\n").append(results.GetTestPartResult(i).message());
  }
  return verdict;
}

/// The verdict of an EXPECT_CRASH_SAFE.
template <class Body, class Check>
testing::AssertionResult check_crashes(const std::string& directory, Body&& body, Check&& check,
                                       const CrashOptions& options = {}) {
  const auto check_point = [&](const CrashPoint& point) {
    const crash_detail::Verdict verdict = check_crash_point(check, point);
    // A text refuses a state, also an empty one.
    if (!verdict.is_good && verdict.message.empty()) return std::string("it returned false");
    return verdict.is_good ? std::string() : verdict.message;
  };
  const CrashReport report = for_each_crash(directory, std::forward<Body>(body), check_point, options);
  if (report.failures() == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "power cuts in " << directory << ": " << report;
}

}  // namespace syscost::gtest_detail

#define SYSCOST_JOIN_AS_THEY_ARE_(a, b) a##b
#define SYSCOST_JOIN_(a, b) SYSCOST_JOIN_AS_THEY_ARE_(a, b)
/// An assertion with a testing::AssertionResult. Its variable has a name of its own, so that an assertion may stand in
/// the statement of another one.
#define SYSCOST_CHECK_AS_(name, fail, ...)               \
  GTEST_AMBIGUOUS_ELSE_BLOCKER_                          \
  if (const testing::AssertionResult name = __VA_ARGS__) \
    ;                                                    \
  else                                                   \
    fail(name.failure_message())
#define SYSCOST_CHECK_(fail, ...) SYSCOST_CHECK_AS_(SYSCOST_JOIN_(syscost_result_, __COUNTER__), fail, __VA_ARGS__)

/// The statement is variadic because it may hold commas. It runs exactly once.
#define SYSCOST_CHECK_SYSCALLS_(selector, op, limit, fail, ...)                            \
  SYSCOST_CHECK_(fail, ::syscost::gtest_detail::check_calls(                               \
                           ::syscost::measure([&] { __VA_ARGS__; }), selector, #op, limit, \
                           [](const ::syscost::Count& a, auto b) { return a op b; }, #__VA_ARGS__))

#define EXPECT_SYSCALLS_LE(selector, limit, ...) \
  SYSCOST_CHECK_SYSCALLS_(selector, <=, limit, GTEST_NONFATAL_FAILURE_, __VA_ARGS__)
#define EXPECT_SYSCALLS_GE(selector, limit, ...) \
  SYSCOST_CHECK_SYSCALLS_(selector, >=, limit, GTEST_NONFATAL_FAILURE_, __VA_ARGS__)
#define EXPECT_SYSCALLS_EQ(selector, limit, ...) \
  SYSCOST_CHECK_SYSCALLS_(selector, ==, limit, GTEST_NONFATAL_FAILURE_, __VA_ARGS__)
#define ASSERT_SYSCALLS_LE(selector, limit, ...) \
  SYSCOST_CHECK_SYSCALLS_(selector, <=, limit, GTEST_FATAL_FAILURE_, __VA_ARGS__)
#define ASSERT_SYSCALLS_GE(selector, limit, ...) \
  SYSCOST_CHECK_SYSCALLS_(selector, >=, limit, GTEST_FATAL_FAILURE_, __VA_ARGS__)
#define ASSERT_SYSCALLS_EQ(selector, limit, ...) \
  SYSCOST_CHECK_SYSCALLS_(selector, ==, limit, GTEST_FATAL_FAILURE_, __VA_ARGS__)

/// Fails if the statement leaves a descriptor, a thread or a child process that was not there before. It needs no
/// backend. Things that other threads of the program open meanwhile count, too.
#define SYSCOST_CHECK_LEAKS_(fail, ...) \
  SYSCOST_CHECK_(fail, ::syscost::gtest_detail::check_leaks([&] { __VA_ARGS__; }, #__VA_ARGS__))

#define EXPECT_NO_LEAKS(...) SYSCOST_CHECK_LEAKS_(GTEST_NONFATAL_FAILURE_, __VA_ARGS__)
#define ASSERT_NO_LEAKS(...) SYSCOST_CHECK_LEAKS_(GTEST_FATAL_FAILURE_, __VA_ARGS__)

/// Fails if the statement makes one of these calls on this thread, and says with which arguments and in which line.
/// The call is made. Needs backend dispatch, or seccomp, which names no line (syscost/faults.h).
#define SYSCOST_CHECK_FORBIDDEN_(selector, fail, ...)            \
  SYSCOST_CHECK_(fail, ::syscost::gtest_detail::check_forbidden( \
                           selector, [&] { __VA_ARGS__; }, #__VA_ARGS__))

#define EXPECT_NO_SYSCALLS(selector, ...) SYSCOST_CHECK_FORBIDDEN_(selector, GTEST_NONFATAL_FAILURE_, __VA_ARGS__)
#define ASSERT_NO_SYSCALLS(selector, ...) SYSCOST_CHECK_FORBIDDEN_(selector, GTEST_FATAL_FAILURE_, __VA_ARGS__)

/// Evaluates the expression once, and once more for each of its calls on this thread and each error that the call can
/// have (syscost/call_errors.h), which then fails. Fails if a failure leaves something open. The expression reports an
/// error as false or as an exception; whether it tells the truth, SweepOptions::promise of for_each_failure() says.
/// Needs backend dispatch (syscost/faults.h).
#define SYSCOST_CHECK_FAILURES_(selector, fail, ...)            \
  SYSCOST_CHECK_(fail, ::syscost::gtest_detail::check_failures( \
                           selector, [&] { return __VA_ARGS__; }, #__VA_ARGS__))

#define EXPECT_FAILURES_HANDLED(selector, ...) SYSCOST_CHECK_FAILURES_(selector, GTEST_NONFATAL_FAILURE_, __VA_ARGS__)
#define ASSERT_FAILURES_HANDLED(selector, ...) SYSCOST_CHECK_FAILURES_(selector, GTEST_FATAL_FAILURE_, __VA_ARGS__)

/// EXPECT_CRASH_SAFE(directory, body, check[, options]): fails if the check refuses one of the states that a power cut
/// during the body could leave of the directory (syscost/crash.h). A check refuses it by a failed assertion, by false,
/// by a text or by an exception. The failure names the state that lost least. Needs backend dispatch.
#define SYSCOST_CHECK_CRASHES_(directory, fail, ...) \
  SYSCOST_CHECK_(fail, ::syscost::gtest_detail::check_crashes(directory, __VA_ARGS__))

#define EXPECT_CRASH_SAFE(directory, ...) SYSCOST_CHECK_CRASHES_(directory, GTEST_NONFATAL_FAILURE_, __VA_ARGS__)
#define ASSERT_CRASH_SAFE(directory, ...) SYSCOST_CHECK_CRASHES_(directory, GTEST_FATAL_FAILURE_, __VA_ARGS__)
