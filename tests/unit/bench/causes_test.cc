// SPDX-License-Identifier: MIT
//
// A change that was made once and shows in many tests is said once.
#include "commands/compare/causes.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windows.h"

namespace syscost::bench {
namespace {

using commands::Cause;
using judge::Comparison;

class Causes : public ::testing::Test {
 protected:
  /// A test with `more` further calls of write; `line` of log.cc makes them, if it is not 0.
  void add(const std::string& name, double more, std::uint64_t line) {
    const stats::WindowSummary& before = windows_.emplace_back(
        judge::window({judge::syscall("write", judge::exact(5)), judge::syscall("read", judge::exact(2))}));
    const stats::WindowSummary& after = windows_.emplace_back(
        judge::window({judge::syscall("write", judge::exact(5 + more)), judge::syscall("read", judge::exact(2))}));
    for (stats::WindowSummary* window : {&windows_[windows_.size() - 2], &windows_.back()}) {
      window->has_other_threads = false;
    }
    Comparison& row = rows_.emplace_back(judge::compare_windows(&before, &after, {}));
    row.name = name;
    if (line == 0) return;
    stats::SiteChange site;
    site.site.file = "log.cc";
    site.site.line = line;
    site.site.function = "Log::write_all";
    site.site.line_in_function = line % 10;
    site.old_count = judge::exact(5);
    site.new_count = judge::exact(5 + more);
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
    stats::WindowSummary& gone = windows_.emplace_back(judge::window({}));
    gone.kind = "test";
    rows_.push_back(judge::compare_windows(&gone, nullptr, {}));
    rows_.back().name = name;
  }
  EXPECT_EQ(text(), "causes: 1\n  missing in 2 tests: Log.A, Log.B\n");
}

/// 3000 tests, and three lines that changed; a test that fails by its time, too; and one that is green.
class CausesOfManyTests : public Causes {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3000; ++i) {
      add("Log.T" + std::to_string(i), 1, static_cast<std::uint64_t>(i % 3 + 1));
      render::CiCase one;
      one.name = one.test = rows_.back().name;
      one.failures.push_back({"counts", "calls: +1 write", {}});
      report_.cases.push_back(std::move(one));
    }
    report_.cases[7].failures.push_back({"wall", "wall: 2x slower", {}});
    render::CiCase green;
    green.name = green.test = "Log.Green";
    report_.cases.push_back(green);
    report_.rules = kRules;
  }
  std::string as(cli::Report format) const { return commands::report_by_cause(format, report_, causes()); }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
    return times;
  }

  static constexpr std::array<render::CiRule, 2> kRules = {{{"counts", "more"}, {"wall", "slower"}}};
  render::CiReport report_{};
};

// GitHub shows ten annotations of a step.
TEST_F(CausesOfManyTests, AreAnAnnotationEach) {
  const std::string text = as(cli::Report::github);
  EXPECT_EQ(count(text, "::error "), 4U);
  EXPECT_NE(
      text.find("title=syscost%3A 1000 tests::log.cc:1 Log::write_all: +1000 write in 1000 tests: Log.T0, Log.T3"),
      std::string::npos)
      << text;
  EXPECT_EQ(count(text, "wall: 2x slower"), 1U) << "another failure of a test stays";
}

TEST_F(CausesOfManyTests, AreAResultOfCodeScanningEachWithTheTestsInside) {
  const nlohmann::json results = nlohmann::json::parse(as(cli::Report::sarif))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 4U);
  const nlohmann::json& first = results[0];
  EXPECT_EQ(
      first["message"]["text"].get<std::string>().find("log.cc:1 Log::write_all: +1000 write in 1000 tests: Log.T0"),
      0U);
  ASSERT_EQ(first["relatedLocations"].size(), 1000U);
  EXPECT_EQ(first["relatedLocations"][1]["message"]["text"], "Log.T3: calls: +1 write");
  EXPECT_EQ(first["partialFingerprints"]["syscostTest/v1"], "syscost/counts log.cc Log::write_all+1 write")
      << "it is the same alert if other tests have it, or if the line moves";
  EXPECT_EQ(results[3]["message"]["text"], "Log.T7: wall: 2x slower");
}

TEST_F(CausesOfManyTests, BeginTheMessageOfEachTestForReadersOfJUnit) {
  const std::string text = as(cli::Report::junit);
  EXPECT_EQ(count(text, "<testcase "), 3001U);
  EXPECT_EQ(count(text, "<failure "), 3000U);
  EXPECT_EQ(count(text, "message=\"log.cc:2 Log::write_all: +1000 write in 1000 tests; calls: +1 write"), 1000U);
}

TEST_F(Causes, OfATestAloneAreAResultOfCodeScanningIfTheyHaveALine) {
  add("Log.A", 1, 45);
  add("Log.B", 2, 0);
  render::CiReport report{};
  for (const Comparison& row : rows_) {
    render::CiCase one;
    one.name = row.name;
    one.failures.push_back({"counts", "calls: +1 write", {}});
    report.cases.push_back(std::move(one));
  }
  const nlohmann::json results =
      nlohmann::json::parse(commands::report_by_cause(cli::Report::sarif, report, causes()))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["message"]["text"], "log.cc:45 Log::write_all: +1 write in Log.A");
  EXPECT_EQ(results[1]["message"]["text"], "Log.B: calls: +1 write");
}

}  // namespace
}  // namespace syscost::bench
