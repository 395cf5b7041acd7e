// SPDX-License-Identifier: MIT
//
// Where windows open and close around what GoogleTest runs. Two callers tell it of GoogleTest's events: the listener of
// programs that are linked with syscost (listener.h), and the agent of programs that are not (agent/gtest). It knows no
// header of GoogleTest.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "syscost/adapter.h"

namespace syscost::gtest_adapter {

/// One thread, except note_printed_line().
class TestWindows {
 public:
  /// The iteration that GoogleTest counts begins at 0 again when a main calls RUN_ALL_TESTS() twice; ours does not.
  void iteration_start() { ++iterations_; }

  /// `window`: "set-up" or "tear-down". The first set-up begins the tests, of which there is one at least. `only_test`:
  /// as of adapter::begin_tests().
  void environments_start(const char* window, std::string_view only_test);
  void environments_end();

  /// A suite's set-up begins. `tests_to_run`: how many of its tests will run.
  void suite_start(std::string_view suite, int tests_to_run);
  /// The set-up ends where the first test begins. No effect before later tests.
  void before_test();
  /// Opens the test's window; adapter::close_window() with printed_lines() closes it.
  void test_start(std::string_view test);
  /// After the suite's last test its tear-down begins, in which the printer writes `lines` lines.
  void after_test(int lines);
  void suite_end();

  bool is_set_up_open() const { return is_set_up_open_; }
  /// GoogleTest's printer wrote and flushed a line inside the open window. Any thread.
  void note_printed_line() { ++printed_; }
  /// How many lines the printer wrote inside the open window.
  int printed_lines() const { return printed_; }

 private:
  void open(adapter::Kind kind, std::string_view test, const char* window, int lines);
  void open_suite_window(const char* window, int lines);

  std::string suite_;
  int tests_to_come_ = 0;  // in suite_
  int iterations_ = 0;     // over all calls of RUN_ALL_TESTS()
  bool is_set_up_open_ = false;
  bool is_tear_down_open_ = false;
  std::atomic<int> printed_{0};  // lines the printer flushed inside the open window
};

}  // namespace syscost::gtest_adapter
