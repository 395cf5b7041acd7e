// SPDX-License-Identifier: MIT
#include "adapters/gtest/listener.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "adapters/gtest/versions.h"
#include "libc/symbols.h"
#include "syscost/adapter.h"
#include "syscost/counting.h"

namespace syscost::gtest_adapter {
namespace {

bool has_property(const testing::TestInfo& test, const std::string& name) {
  const testing::TestResult& result = *test.result();
  for (int i = 0; i < result.test_property_count(); ++i) {
    if (name == result.GetTestProperty(i).key()) return true;
  }
  return false;
}

/// GoogleTest records ints and strings only, and ints are too short for nanoseconds: numbers go as strings.
void record(const testing::TestInfo& test, const std::string& name, std::uint64_t value) {
  if (!has_property(test, name)) return testing::Test::RecordProperty(name, std::to_string(value));
  adapter::say("test " + full_name(test) + " records the property " + name +
               " itself: its value stays, and ours is left out");
}

void record(const testing::TestInfo& test, const std::string& name, const Count& count) {
  if (std::optional<std::uint64_t> value = count.value()) record(test, name, *value);
}

/// A name fit for XML attributes and JSON keys: letters, digits and underscores.
std::string property_name(std::string text) {
  for (char& c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!is_plain) c = '_';
  }
  return text;
}

/// Would GoogleTest colour its output? Its own answer is internal, so the same questions are asked; NO_COLOR counts
/// more.
bool uses_colour() {
  const char* no_color = adapter::variable("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const std::string color = SYSCOST_GTEST_FLAG(color);
  if (SYSCOST_LIBC(strcasecmp)(color.c_str(), "auto") != 0) {
    return SYSCOST_LIBC(strcasecmp)(color.c_str(), "yes") == 0 ||
           SYSCOST_LIBC(strcasecmp)(color.c_str(), "true") == 0 || SYSCOST_LIBC(strcasecmp)(color.c_str(), "t") == 0 ||
           color == "1";
  }
  const char* term = adapter::variable("TERM");
  static const bool is_terminal = SYSCOST_LIBC(isatty)(STDOUT_FILENO) != 0;
  return is_terminal && term != nullptr && *term != '\0' && SYSCOST_LIBC(strcmp)(term, "dumb") != 0;
}

/// False when it is known that the test itself made no syscall. A backend may know entries only, or calls only; asking
/// it to compare what it does not know would end the user's test as one that cannot be measured.
bool may_have_counted(const adapter::Report& report) {
  for (const Count& count : {report.cost.entries(report.counted), report.cost.calls(report.counted)}) {
    if (std::optional<std::uint64_t> value = count.value()) return *value != 0;
  }
  return true;
}

}  // namespace

void record_properties(const adapter::Report& report, const testing::TestInfo& test) {
  const Count calls = report.cost.calls(report.counted);
  const Count entries = report.cost.entries(report.counted);
  record(test, "syscost_calls", calls);
  record(test, "syscost_entries", entries);
  record(test, "syscost_errors", report.cost.errors(report.counted));
  record(test, "syscost_kernel_ns", report.cost.kernel_ns(report.counted));
  record(test, "syscost_lost", report.cost.lost());
  // A number of one syscall is 0 also where the backend does not measure it.
  for (const SyscallCost& syscall : report.cost.syscalls()) {
    const std::string name = property_name(syscall.name);
    if (calls.value().has_value()) {
      record(test, "syscost_calls_" + name, syscall.calls);
    } else if (entries.value().has_value()) {
      record(test, "syscost_entries_" + name, syscall.entries);
    }
  }
}

void print_line(const adapter::Report& report, const std::string& test) {
  // Through stdio, like GoogleTest's printer, so that the two stay in order.
  const bool colour = uses_colour();
  const auto print = [&](const std::string& line) {
    SYSCOST_LIBC(printf)
    ("%s[ SYSCOST  ] %s%s%s%s\n", colour ? "\033[0;36m" : "", colour ? "\033[m" : "", test.c_str(),
     test.empty() ? "" : ": ", line.c_str());
  };
  for (const std::string& loop : report.loops) print(loop);
  // A test that is nothing but its loops has nothing else to say.
  if (report.loops.empty() || may_have_counted(report)) {
    print(report.line);
    for (const std::string& line : report.tools) print(line);
  }
  SYSCOST_LIBC(fflush)(stdout);
}

namespace {

const char* selection(const testing::UnitTest& unit_test) {
  const int chosen = unit_test.test_to_run_count();
  if (chosen == 1) return "isolated";
  return chosen == unit_test.total_test_count() - unit_test.disabled_test_count() ? "whole" : "subset";
}

const char* outcome(const testing::TestResult& result) {
  if (result.Failed()) return "failed";
  return is_skipped(result, 0) ? "skipped" : "passed";
}

/// True when GoogleTest's printer announces each test.
bool printer_speaks() {
  testing::TestEventListener* const printer = testing::UnitTest::GetInstance()->listeners().default_result_printer();
  return printer != nullptr && !is_brief(printer);
}

/// Where --gtest_output puts its report; empty where GoogleTest looks for a name that is free.
std::string report_file() {
  const std::string output = SYSCOST_GTEST_FLAG(output);
  const std::size_t colon = std::min(output.find(':'), output.size());
  const std::string format = output.substr(0, colon);
  if ((format != "xml" && format != "json") || output.back() == '/') return {};
  std::string name = colon < output.size() ? output.substr(colon + 1) : "test_detail." + format;
  if (name.substr(0, 1) == "/") return name;
  return std::string(testing::UnitTest::GetInstance()->original_working_dir()) + "/" + name;
}

/// Fails the run. --gtest_throw_on_failure and --gtest_break_on_failure are meant for the user's assertions. Here they
/// would end the program, because no code could catch the exception.
void fail_run(const std::string& problem) {
  const bool throws = SYSCOST_GTEST_FLAG(throw_on_failure);
  const bool breaks = SYSCOST_GTEST_FLAG(break_on_failure);
  SYSCOST_GTEST_SET_FLAG(throw_on_failure, false);
  SYSCOST_GTEST_SET_FLAG(break_on_failure, false);
  ADD_FAILURE() << "syscost: " << problem;
  SYSCOST_GTEST_SET_FLAG(throw_on_failure, throws);
  SYSCOST_GTEST_SET_FLAG(break_on_failure, breaks);
}

/// True if something failed in a test, or outside of the tests by another part than `own`.
bool has_other_failure(const testing::UnitTest& unit_test, int own) {
  if (failed_suite_count(unit_test) > 0) return true;
  const testing::TestResult& outside = unit_test.ad_hoc_test_result();
  for (int i = 0; i < outside.total_part_count(); ++i) {
    if (i != own && outside.GetTestPartResult(i).failed()) return true;
  }
  return false;
}

/// In the order in which they were registered: GoogleTest shuffles them later.
std::vector<const testing::TestInfo*> tests_of(const testing::UnitTest& unit_test) {
  std::vector<const testing::TestInfo*> tests;
  for (int i = 0; i < suite_count(unit_test); ++i) {
    const Suite& suite = suite_at(unit_test, i);
    for (int j = 0; j < suite.total_test_count(); ++j) tests.push_back(suite.GetTestInfo(j));
  }
  return tests;
}

names::TestPlace place_of(const testing::TestInfo& test) {
  return {&test, test.file() != nullptr ? test.file() : "", static_cast<std::uint64_t>(std::max(test.line(), 0))};
}

}  // namespace

void WindowKeeper::program_start(const testing::UnitTest& unit_test) {
  const std::string type = adapter::build_type();
  adapter::Framework framework;
  framework.name = "GoogleTest";
  framework.selection = selection(unit_test);
  framework.build_type = type;
  adapter::check_report_or_exit(framework.name, report_file());
  adapter::start_or_exit(framework);
  const std::vector<const testing::TestInfo*> tests = tests_of(unit_test);
  adapter::do_unseen([&] {
    names_.set_all(
        tests.size(), [&](std::size_t i) { return full_name(*tests[i]); },
        [&](std::size_t i) { return place_of(*tests[i]); });
    only_test_.clear();
    if (unit_test.test_to_run_count() != 1) return;
    const auto only = std::find_if(tests.begin(), tests.end(), [](const auto* test) { return test->should_run(); });
    if (only != tests.end()) only_test_ = names_.of(full_name(**only), place_of(**only));
  });
}

void WindowKeeper::iteration_end(const testing::UnitTest& unit_test) {
  has_failed_ = has_failed_ || has_other_failure(unit_test, own_part_);  // the next iteration forgets that of tests
  const std::string problem = adapter::problem();
  if (problem.empty() || has_reported_problem_ || adapter::is_fork_child()) return;
  has_reported_problem_ = true;
  // No test's verdict, but the program's: outside tests a failure belongs to the run.
  const int parts = unit_test.ad_hoc_test_result().total_part_count();
  fail_run(problem);
  if (unit_test.ad_hoc_test_result().total_part_count() > parts) own_part_ = parts;
}

void WindowKeeper::program_end(const testing::UnitTest& unit_test) const {
  // After the iteration's end other listeners may have added failures.
  const bool has_failed = has_failed_ || has_other_failure(unit_test, own_part_);
  adapter::finish_tests(has_failed ? "failed" : "passed");
  if (!has_failed && has_reported_problem_) adapter::note_verdict();
}

// ---- tests ----------------------------------------------------------------------------------------------------------

void WindowKeeper::before_test() {
  if (windows_.is_set_up_open()) note_printed_line();  // the first test's "[ RUN      ]"
  windows_.before_test();
}

void WindowKeeper::test_start(const testing::TestInfo& test) {
  adapter::do_unseen([&] { test_ = names_.of(full_name(test), place_of(test)); });
  windows_.test_start(test_);
}

void WindowKeeper::test_end(const testing::TestInfo& test) {
  adapter::conclude_test();
  const adapter::Report report = adapter::close_unsettled(outcome(*test.result()), windows_.printed_lines());
  if (adapter::is_fork_child()) return;
  adapter::do_unseen([&] {
    // Only for a file that will show them: a test may look at its own properties.
    if (!std::string(SYSCOST_GTEST_FLAG(output)).empty()) record_properties(report, test);
    // Under --gtest_brief no line above says which test this is.
    if (adapter::prints_lines()) print_line(report, printer_speaks() ? std::string() : test_);
  });
}

void WindowKeeper::after_test(const testing::TestInfo& test) {
  adapter::settle_outcome(outcome(*test.result()));
  windows_.after_test(printer_speaks() ? 1 : 0);  // the last test's "[       OK ]" is still to come
}

// ---- what the printer wrote -----------------------------------------------------------------------------------------

void WindowKeeper::note_printed_result() {
  if (testing::UnitTest::GetInstance()->listeners().default_result_printer() != nullptr) windows_.note_printed_line();
}

void WindowKeeper::note_printed_line() {
  if (printer_speaks()) windows_.note_printed_line();
}

}  // namespace syscost::gtest_adapter
