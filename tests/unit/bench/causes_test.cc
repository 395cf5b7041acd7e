// SPDX-License-Identifier: MIT
//
// What changed once and shows in many tests is said once.
#include "commands/causes.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "windows.h"

namespace syscost::bench {
namespace {

using commands::Cause;
using stats::Comparison;

class Causes : public ::testing::Test {
 protected:
  /// A test with `more` further calls of write; `line` of log.cc makes them, if it is not 0.
  void add(const std::string& name, double more, std::uint64_t line) {
    const stats::WindowSummary& before = windows_.emplace_back(
        stats::window({stats::syscall("write", stats::exact(5)), stats::syscall("read", stats::exact(2))}));
    const stats::WindowSummary& after = windows_.emplace_back(
        stats::window({stats::syscall("write", stats::exact(5 + more)), stats::syscall("read", stats::exact(2))}));
    for (stats::WindowSummary* window : {&windows_[windows_.size() - 2], &windows_.back()}) {
      window->has_other_threads = false;
    }
    Comparison& row = rows_.emplace_back(stats::compare_windows(&before, &after, {}));
    row.name = name;
    if (line == 0) return;
    stats::SiteChange site;
    site.site.file = "log.cc";
    site.site.line = line;
    site.site.function = "Log::write_all";
    site.old_count = stats::exact(5);
    site.new_count = stats::exact(5 + more);
    row.deltas.front().sites.push_back(site);
  }
  std::vector<Cause> causes() const {
    std::vector<const Comparison*> rows;
    for (const Comparison& row : rows_) rows.push_back(&row);
    return commands::causes_of(rows, {.counts = true});
  }
  std::string text() const { return commands::causes_text(causes(), 0); }

  std::deque<stats::WindowSummary> windows_;
  std::deque<Comparison> rows_;
};

TEST_F(Causes, AreTheLinesThatMakeMoreCalls) {
  add("Log.A", 1, 45);
  add("Log.B", 20, 45);
  add("Log.C", 3, 45);
  EXPECT_EQ(text(), "causes: 1\n  log.cc:45 Log::write_all: +24 write in 3 tests\n");
}

TEST_F(Causes, AreTheSameChangeWhereNoLineIsKnown) {
  add("Log.A", 1, 0);
  add("Log.B", 1, 0);
  add("Log.C", 1, 0);
  add("Log.D", 1, 0);
  add("Log.E", 7, 0);
  EXPECT_EQ(text(), "causes: 2\n  +1 write in 4 tests: Log.A, Log.B, Log.C, ...\n  +7 write in Log.E\n");
}

TEST_F(Causes, AreNotNamedWhereTheRowsSayAsMuch) {
  add("Log.A", 1, 45);
  add("Log.B", 2, 0);
  EXPECT_EQ(text(), "");
  EXPECT_EQ(causes().size(), 2U);
}

TEST_F(Causes, OfTestsThatAreMissingAreOne) {
  for (const char* name : {"Log.A", "Log.B"}) {
    stats::WindowSummary& gone = windows_.emplace_back(stats::window({}));
    gone.kind = "test";
    rows_.push_back(stats::compare_windows(&gone, nullptr, {}));
    rows_.back().name = name;
  }
  EXPECT_EQ(text(), "causes: 1\n  missing in 2 tests: Log.A, Log.B\n");
}

// GitHub shows ten annotations of a step.
TEST_F(Causes, AreOneCaseForManyTests) {
  render::CiReport report{};
  for (int i = 0; i < 3000; ++i) {
    add("Log.T" + std::to_string(i), 1, static_cast<std::uint64_t>(i % 3 + 1));
    render::CiCase one;
    one.name = rows_.back().name;
    one.failures.push_back({"counts", "calls: +1 write", {}});
    report.cases.push_back(std::move(one));
  }
  render::CiCase green;
  green.name = "Log.Green";
  report.cases.push_back(green);
  commands::fold_into_causes(causes(), report);
  ASSERT_EQ(report.cases.size(), 4U);
  EXPECT_EQ(report.cases[0].name, "1000 tests");
  EXPECT_EQ(report.cases[0].failures.front().text.substr(0, 65),
            "log.cc:1 Log::write_all: +1000 write in 1000 tests: Log.T0, Log.T");
  EXPECT_EQ(report.cases[3].name, "Log.Green");
}

}  // namespace
}  // namespace syscost::bench
