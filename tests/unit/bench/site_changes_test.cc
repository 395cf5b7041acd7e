// SPDX-License-Identifier: MIT
//
// No verdict depends on sites, whatever an edit does to the lines; and the lines that explain a change add up to it.
#include "judge/site_changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "commands/compare/compare.h"
#include "loaded.h"
#include "sited_suite.h"

namespace syscost::bench::judge {
namespace {

using testing::change_calls;
using testing::Function;
using testing::Line;
using testing::move_lines;
using testing::Random;
using testing::random_suite;
using testing::text_of;
using testing::window_rows;

struct Judged {
  commands::CompareResult result;
  std::string problems;
};

void judge(const std::string& before, const std::string& now, Judged& out) {
  model::LoadOptions load;
  load.keep_sites = true;
  for (const bool is_old : {true, false}) {
    testing::Loaded loaded = testing::load(is_old ? before : now, load);
    out.problems += loaded.problems;
    (is_old ? out.result.old_data : out.result.new_data) = std::move(loaded.data);
  }
  const std::vector<std::string> faults = commands::judge({}, out.result);
  EXPECT_TRUE(faults.empty());
}

/// Everything that the gate and people read, but for the sites.
std::string verdicts_of(const commands::CompareResult& result) {
  std::string text;
  for (const Comparison& row : result.rows) {
    text += fmt::format("{} {} {} {}\n", row.name, to_string(row.verdict), row.reason, commands::breakdown(row));
    for (const Delta& delta : row.deltas) {
      text += fmt::format("  {} {} {} {} {} {}\n", delta.syscall, delta.errno_name, static_cast<int>(delta.change),
                          delta.is_gated(), delta.old_count.median, delta.new_count.median);
    }
  }
  return text;
}

bool is_near_zero(double value) {
  return std::abs(value) < 1e-6;
}

void expect_sums(const Comparison& row, unsigned seed) {
  for (const Delta& delta : row.deltas) {
    if (!delta.is_exact()) continue;
    ASSERT_FALSE(delta.sites.empty()) << seed << ": " << delta.syscall;
    double sum = unexplained(delta);
    for (const stats::SiteChange& one : delta.sites) sum += one.more();
    EXPECT_NEAR(sum, delta.new_count.median - delta.old_count.median, 1e-6) << seed << ": " << delta.syscall;
  }
}

TEST(SiteChanges, ChangeNoVerdictAndAddUpToTheChange) {
  std::size_t changed = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const testing::Suite before = random_suite(random);
    testing::Suite now = before;
    move_lines(random, now);
    if (!random.one_in(4)) change_calls(random, now);
    Judged folded;
    judge(text_of(before, false), text_of(now, false), folded);
    const std::string wanted = verdicts_of(folded.result);
    for (const auto& [old_sited, new_sited] : {std::pair(true, true), {true, false}, {false, true}}) {
      Judged judged;
      judge(text_of(before, old_sited), text_of(now, new_sited), judged);
      EXPECT_EQ(judged.problems, folded.problems);
      ASSERT_EQ(verdicts_of(judged.result), wanted) << "seed " << seed;
      ASSERT_EQ(judged.result.warnings, folded.result.warnings) << "seed " << seed;
      if (!old_sited || !new_sited) continue;
      for (const Comparison& row : judged.result.rows) {
        changed += row.deltas.size();
        expect_sums(row, seed);
      }
    }
  }
  EXPECT_GT(changed, 150U) << "the suites change too little to test anything";
}

TEST(SiteChanges, NameTheLineThatGrewAlthoughAllLinesMoved) {
  std::size_t tested = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    testing::Suite before = random_suite(random);
    // A function below text that was inserted above it; one line of it makes more calls.
    testing::Suite now = before;
    for (auto& test : now) {
      for (Function& function : test.functions) function.first_line += 1 + random.below(30);
    }
    Function& function = now[0].functions[0];
    if (function.lines.empty() || !function.has_first_line) continue;
    Line& line = function.lines[0];
    for (std::uint64_t& count : line.calls) count += 3 * std::max<std::uint64_t>(now[0].iterations, 1);
    Judged judged;
    judge(text_of(before, true), text_of(now, true), judged);
    std::vector<Delta> deltas;
    for (const Comparison& row : judged.result.rows) {
      deltas.insert(deltas.end(), row.deltas.begin(), row.deltas.end());
    }
    ASSERT_EQ(deltas.size(), 1U) << seed;
    if (!deltas[0].is_exact()) continue;
    ASSERT_EQ(deltas[0].sites.size(), 1U) << seed;
    const stats::SiteChange& change = deltas[0].sites[0];
    EXPECT_EQ(change.site.file, function.file);
    EXPECT_EQ(change.site.line, function.first_line + line.in_function);
    EXPECT_EQ(change.site.function, function.name);
    EXPECT_TRUE(is_near_zero(change.more() + unexplained(deltas[0]) - 3));
    ++tested;
  }
  EXPECT_GT(tested, 50U);
}

TEST(SiteChanges, NameTheLineThatOpensWithoutOSyncNow) {
  const auto rows = [](const char* synced) {
    return testing::test_row({{"total_calls", "6"}}) +
           testing::syscall_row(
               {{"syscall", "openat"}, {"detail", "at a.cc:3 f+1"}, {"calls", "4"}, {"sync_opens", synced}}) +
           testing::syscall_row(
               {{"syscall", "openat"}, {"detail", "at a.cc:9 g+1"}, {"calls", "2"}, {"sync_opens", "1"}});
  };
  Judged judged;
  judge(rows("4"), rows("1"), judged);
  ASSERT_EQ(judged.result.rows.at(0).deltas.size(), 1U);
  const Delta& delta = judged.result.rows[0].deltas[0];
  EXPECT_EQ(delta.syscall, "O_SYNC");
  ASSERT_EQ(delta.sites.size(), 1U);
  EXPECT_EQ(delta.sites[0].site.line, 3U);
  EXPECT_EQ(delta.sites[0].more(), -3);
}

TEST(SiteChanges, NameTheLinesOfNewIfOldHasNone) {
  Judged judged;
  judge(window_rows({{"write", "", 1}}), window_rows({{"write", "at a.cc:3 f+1", 4}, {"write", "at a.cc:9 g+1", 1}}),
        judged);
  const Delta& delta = judged.result.rows.at(0).deltas.at(0);
  ASSERT_EQ(delta.sites.size(), 2U);
  EXPECT_EQ(delta.sites[0].kind, stats::SiteChange::Kind::in_new);
  EXPECT_EQ(delta.sites[0].new_count.median, 4);
  EXPECT_EQ(unexplained(delta), 0);
}

TEST(SiteChanges, NameNewLinesIfOldDidNotMakeTheCall) {
  Judged judged;
  judge(window_rows({{"read", "", 1}}), window_rows({{"read", "", 1}, {"write", "at a.cc:3 f+1", 4}}), judged);
  const Delta& delta = judged.result.rows.at(0).deltas.at(0);
  ASSERT_EQ(delta.sites.size(), 1U);
  EXPECT_EQ(delta.sites[0].kind, stats::SiteChange::Kind::is_new);
}

TEST(SiteChanges, CallsWithoutAStackAreNotLost) {
  Judged judged;
  judge(window_rows({{"write", "at a.cc:3 f+1", 4}}), window_rows({{"write", "at a.cc:3 f+1", 4}, {"write", "", 2}}),
        judged);
  const Delta& delta = judged.result.rows.at(0).deltas.at(0);
  ASSERT_EQ(delta.sites.size(), 1U);
  EXPECT_TRUE(delta.sites[0].site.is_unknown());
  EXPECT_EQ(delta.sites[0].more(), 2);
}

}  // namespace
}  // namespace syscost::bench::judge
