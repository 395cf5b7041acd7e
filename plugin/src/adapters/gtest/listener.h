// SPDX-License-Identifier: MIT
//
// Hears GoogleTest's events, where the program is linked with syscost, and adds the numbers of a finished test to
// GoogleTest's own output: properties in its XML and JSON, and a line.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "adapters/gtest/test_windows.h"
#include "adapters/gtest/versions.h"
#include "adapters/names/equal_names.h"
#include "syscost/adapter.h"

namespace syscost::gtest_adapter {

/// Records syscost_calls, syscost_entries, ... on the running test; numbers that were not measured, or
/// that the test records itself, are left out.
void record_properties(const adapter::Report& report, const testing::TestInfo& test);

/// Prints `[ SYSCOST  ] 1024 write, ...` in GoogleTest's manner and colour; `[ SYSCOST  ] Log.Batch: 1024 write, ...`
/// where `test` names it.
void print_line(const adapter::Report& report, const std::string& test);

// GoogleTest calls listeners at a start in the order of their list, and at an end in reverse. So the last listener is
// the innermost: it opens a test's window after every other listener has run, and closes it before they run again. But
// a suite's set-up ends where the first test begins, before other listeners do their work. So the outermost listener
// must close that window. Hence two listeners, one early and one last, with one WindowKeeper.
//
// GoogleTest's own printer comes before both, and moving it would break --gtest_brief. So its `[ RUN      ]` line falls
// into the suite's set-up window (and `[       OK ]` into its tear-down). WindowKeeper counts such lines, and
// libsyscost removes them if that is exact.

/// Translates GoogleTest's events for TestWindows. One thread, except note_printed_result().
class WindowKeeper {
 public:
  void program_start(const testing::UnitTest& unit_test);
  void iteration_start() { windows_.iteration_start(); }
  void iteration_end(const testing::UnitTest& unit_test);
  void program_end(const testing::UnitTest& unit_test) const;

  void environments_start(const char* window) { windows_.environments_start(window, only_test_); }
  void environments_end() { windows_.environments_end(); }
  void suite_start(const Suite& suite) { windows_.suite_start(suite.name(), suite.test_to_run_count()); }
  /// Before the first test of a suite: ends its set-up.
  void before_test();
  void test_start(const testing::TestInfo& test);
  void test_end(const testing::TestInfo& test);
  /// After a test and the other listeners' work: its outcome, and the tear-down if the test was the suite's last.
  void after_test(const testing::TestInfo& test);
  void suite_end() { windows_.suite_end(); }

  /// The printer showed a failure or a skip inside the open window. Any thread.
  void note_printed_result();
  /// The printer showed a disabled test.
  void note_printed_line();

 private:
  TestWindows windows_;
  names::EqualNames names_;
  std::string only_test_;    // if one is to run; else empty
  std::string test_;         // that runs or ran last, by its own name
  bool has_failed_ = false;  // something, in a test or outside
  bool has_reported_problem_ = false;
  int own_part_ = -1;  // of the results outside of tests, the one that is ours; -1 = none
};

/// The innermost listener; the keeper must outlive it.
class InnerListener : public testing::EmptyTestEventListener {
 public:
  explicit InnerListener(WindowKeeper& keeper) : keeper_(keeper) {}

 private:
  void OnTestIterationStart(const testing::UnitTest&, int) override { keeper_.iteration_start(); }
  void OnEnvironmentsSetUpStart(const testing::UnitTest&) override { keeper_.environments_start("set-up"); }
  void OnEnvironmentsSetUpEnd(const testing::UnitTest&) override { keeper_.environments_end(); }
  void SYSCOST_ON_SUITE_START(const Suite& suite) override { keeper_.suite_start(suite); }
  void OnTestStart(const testing::TestInfo& test) override { keeper_.test_start(test); }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.passed()) keeper_.note_printed_result();
  }
  void OnTestEnd(const testing::TestInfo& test) override { keeper_.test_end(test); }
  void SYSCOST_ON_SUITE_END(const Suite&) override { keeper_.suite_end(); }
  void OnEnvironmentsTearDownStart(const testing::UnitTest&) override { keeper_.environments_start("tear-down"); }
  void OnEnvironmentsTearDownEnd(const testing::UnitTest&) override { keeper_.environments_end(); }
  void OnTestIterationEnd(const testing::UnitTest& unit_test, int) override { keeper_.iteration_end(unit_test); }
  void OnTestProgramEnd(const testing::UnitTest& unit_test) override { keeper_.program_end(unit_test); }

  WindowKeeper& keeper_;
};

}  // namespace syscost::gtest_adapter
