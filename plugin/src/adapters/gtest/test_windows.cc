// SPDX-License-Identifier: MIT
#include "adapters/gtest/test_windows.h"

#include <locale>

namespace syscost::gtest_adapter {
namespace {

/// GoogleTest's printer uses streams. The first std::locale after the process got its second thread makes libstdc++
/// call futex, once. Made here, between windows, the call is not charged to the suite that is printed as ended next.
void make_first_locale() {
  const std::locale first;
}

}  // namespace

void TestWindows::open(adapter::Kind kind, std::string_view test, const char* window, int lines) {
  printed_ = lines;
  adapter::WindowName name;
  name.kind = kind;
  name.test = test;
  name.window = window;
  name.repetition = iterations_ - 1;
  adapter::open_window(name);
}

void TestWindows::environments_start(const char* window, std::string_view only_test) {
  adapter::begin_tests(only_test);
  open(adapter::Kind::environment, {}, window, 0);
}

void TestWindows::environments_end() {
  adapter::close_window("", printed_);
}

void TestWindows::open_suite_window(const char* window, int lines) {
  adapter::do_unseen(make_first_locale);
  open(adapter::Kind::suite, suite_, window, lines);
}

void TestWindows::suite_start(std::string_view suite, int tests_to_run) {
  suite_ = suite;
  tests_to_come_ = tests_to_run;
  is_set_up_open_ = true;
  open_suite_window("set-up", 0);
}

void TestWindows::before_test() {
  if (!is_set_up_open_) return;
  is_set_up_open_ = false;
  adapter::close_window("", printed_);
}

void TestWindows::test_start(std::string_view test) {
  open(adapter::Kind::test, test, "", 0);
}

void TestWindows::after_test(int lines) {
  if (--tests_to_come_ != 0) return;
  is_tear_down_open_ = true;
  open_suite_window("tear-down", lines);
}

void TestWindows::suite_end() {
  if (is_set_up_open_ || is_tear_down_open_) adapter::close_window("", printed_);
  is_set_up_open_ = is_tear_down_open_ = false;
  tests_to_come_ = 0;
}

}  // namespace syscost::gtest_adapter
