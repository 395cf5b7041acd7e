// SPDX-License-Identifier: MIT
//
// The comparison itself: a suite that never fails proves nothing, so each kind of miscount must make a sentence.
#include "compare.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace conformance {
namespace {

Window expected_window() {
  return Window{.rows = {calls("read", 1).restarted(2).failing(EINTR, 1), calls("getpriority", 0).refused(3, EPERM)}};
}

MeasuredWindow right_answer() {
  MeasuredWindow measured;
  measured.available = true;
  measured.rows["read"] = {.entries = 3, .calls = 1, .restarts = 2, .latencies = 3, .errors = {{EINTR, 1}}};
  measured.rows["getpriority"] = {.denied = 3, .errors = {{EPERM, 3}}};
  return measured;
}

StraceWindow log_of_the_same_run() {
  return StraceWindow{.entries = {{"read", 3}, {"getpriority", 3}}, .carried_in = {}, .in_flight = {}};
}

std::vector<std::string> against_table(const MeasuredWindow& measured) {
  return compare_with_table(expected_window(), BackendColumn{}, measured);
}

TEST(Compare, AcceptsTheRightAnswer) {
  EXPECT_TRUE(against_table(right_answer()).empty());
  EXPECT_TRUE(compare_with_strace(BackendColumn{}, right_answer(), log_of_the_same_run()).empty());
}

BackendColumn calls_only() {
  BackendColumn column;
  column.knows_entries = column.knows_denied = false;
  return column;
}

TEST(Compare, ComparesCallsWhereEntriesAreNotKnown) {
  MeasuredWindow measured;
  measured.available = true;
  measured.rows["read"] = {.calls = 1, .latencies = 1, .errors = {{EINTR, 1}}};
  measured.rows["getpriority"] = {.calls = 3, .latencies = 3, .errors = {{EPERM, 3}}};
  EXPECT_TRUE(compare_with_table(expected_window(), calls_only(), measured).empty());
  StraceWindow strace = log_of_the_same_run();
  strace.interrupted = {{"read", 2}};
  EXPECT_TRUE(compare_with_strace(calls_only(), measured, strace).empty());

  measured.rows["getpriority"].calls = measured.rows["getpriority"].latencies = 4;
  EXPECT_EQ(compare_with_table(expected_window(), calls_only(), measured),
            (std::vector<std::string>{"getpriority calls: the table says 3, counted 4"}));
  EXPECT_EQ(compare_with_strace(calls_only(), measured, strace),
            (std::vector<std::string>{"getpriority calls: strace says 3, counted 4"}));
}

TEST(Compare, SeesAMissingEntry) {
  MeasuredWindow measured = right_answer();
  measured.rows["read"].entries = 2;
  measured.rows["read"].restarts = 1;
  measured.rows["read"].latencies = 2;
  EXPECT_EQ(against_table(measured).size(), 2U);  // entries and restarts
  EXPECT_EQ(compare_with_strace(BackendColumn{}, measured, log_of_the_same_run()),
            (std::vector<std::string>{"read entries: strace says 3, counted 2"}));
}

TEST(Compare, SeesAMissingRowAndAnUnexpectedOne) {
  MeasuredWindow measured = right_answer();
  measured.rows.erase("getpriority");
  measured.rows["brk"] = {.entries = 1, .calls = 1, .latencies = 1, .errors = {}};
  EXPECT_EQ(against_table(measured).size(), 3U);  // denied, its errors, brk
  EXPECT_EQ(compare_with_strace(BackendColumn{}, measured, log_of_the_same_run()).size(), 2U);
}

TEST(Compare, AllowsUnexpectedRowsOnlyWithAReason) {
  MeasuredWindow measured = right_answer();
  measured.rows["brk"] = {.entries = 1, .calls = 1, .latencies = 1, .errors = {}};
  Window expected = expected_window();
  expected.others_because = "the allocator decides";
  EXPECT_TRUE(compare_with_table(expected, BackendColumn{}, measured).empty());
}

TEST(Compare, SeesAWrongErrno) {
  MeasuredWindow measured = right_answer();
  measured.rows["read"].errors = {{EAGAIN, 1}};
  EXPECT_EQ(against_table(measured), (std::vector<std::string>{"read errors: the table says {4: 1}, counted {11: 1}"}));
}

TEST(Compare, SeesARowThatDoesNotAddUpEvenWhereTheTableIsOpen) {
  MeasuredWindow measured = right_answer();
  measured.rows["futex"] = {.entries = 2, .calls = 1, .latencies = 1, .errors = {}};
  Window expected = expected_window();
  expected.rows.push_back(any("futex", "libc decides"));
  EXPECT_EQ(compare_with_table(expected, BackendColumn{}, measured).size(), 1U);
}

TEST(Compare, SeesLostEvents) {
  MeasuredWindow measured = right_answer();
  measured.lost = 1;
  EXPECT_EQ(against_table(measured), (std::vector<std::string>{"lost: the invariant says 0, counted 1"}));
}

TEST(Compare, ComparesCallsThroughOtherTablesByStracesName) {
  MeasuredWindow measured;
  measured.rows["i386:close"] = {.entries = 2, .calls = 2, .errors = {}};
  measured.rows["close"] = {.entries = 1, .calls = 1, .errors = {}};
  StraceWindow strace{.entries = {{"close", 3}}, .carried_in = {}, .in_flight = {}};
  EXPECT_TRUE(compare_with_strace(BackendColumn{}, measured, strace).empty());
}

TEST(Compare, ExcusesOnlyEntriesThatASignalEndedAndOnlyWhereTheyCannotBeSeen) {
  MeasuredWindow measured;
  measured.rows["close"].entries = 1;
  StraceWindow strace{.entries = {{"close", 3}}, .restarted = {{"close", 1}}, .carried_in = {}, .in_flight = {}};
  BackendColumn seccomp;
  seccomp.misses_restarted = true;
  EXPECT_EQ(compare_with_strace(seccomp, measured, strace).size(), 1U);
  measured.rows["close"].entries = 2;
  EXPECT_TRUE(compare_with_strace(seccomp, measured, strace).empty());
  EXPECT_EQ(compare_with_strace(BackendColumn{}, measured, strace).size(), 1U);
}

TEST(Compare, LeavesAloneASyscallThatTheBackendIsBlindToAndAcceptsNoNumberForIt) {
  BackendColumn seccomp;
  seccomp.blind_to = "rt_sigreturn";
  seccomp.knows_calls = seccomp.knows_errors = seccomp.knows_latency = false;
  Window window{.rows = {calls("rt_sigreturn", 2)}};
  MeasuredWindow measured;
  StraceWindow strace{.entries = {{"rt_sigreturn", 2}}, .carried_in = {}, .in_flight = {}};
  EXPECT_TRUE(compare_with_table(window, seccomp, measured).empty());
  EXPECT_TRUE(compare_with_strace(seccomp, measured, strace).empty());
  measured.rows["rt_sigreturn"].entries = 1;
  EXPECT_FALSE(compare_with_table(window, seccomp, measured).empty());
}

TEST(Compare, LeavesAloneWhatABackendCannotKnow) {
  BackendColumn entries_only;
  entries_only.knows_calls = entries_only.knows_errors = entries_only.knows_denied = entries_only.knows_latency = false;
  MeasuredWindow measured;
  measured.rows["read"].entries = 3;
  measured.rows["getpriority"].entries = 3;  // denied calls are entries to it
  EXPECT_TRUE(compare_with_table(expected_window(), entries_only, measured).empty());
}

TEST(Compare, AcceptsNoLatencyFromABackendThatHasNone) {
  BackendColumn without_clock;
  without_clock.knows_latency = false;
  MeasuredWindow measured = right_answer();
  EXPECT_FALSE(compare_with_table(expected_window(), without_clock, measured).empty());
  for (auto& [name, row] : measured.rows) row.latencies = 0;
  EXPECT_TRUE(compare_with_table(expected_window(), without_clock, measured).empty());
}

}  // namespace
}  // namespace conformance
