// SPDX-License-Identifier: MIT
//
// Each verdict names its rule, in words that a page of the documentation explains.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "judge/accept.h"
#include "windows.h"

namespace syscost::bench {
namespace {

using judge::Comparison;
using judge::exact;
using judge::Rule;
using judge::syscall;
using stats::spread_of;
using stats::WindowSummary;

TEST(RuleWords, AreAllInThePageOfTheOutput) {
  std::ostringstream page;
  page << std::ifstream(SYSCOST_SOURCE_DIR "/docs/bench.md").rdbuf();
  const std::string text = page.str();
  for (const std::string_view word : judge::rule_words()) {
    EXPECT_NE(text.find("| `" + std::string(word) + "` | "), std::string::npos) << word;
  }
  std::size_t rows = 0;
  const std::size_t begin = text.find("| rule | ");
  ASSERT_NE(begin, std::string::npos);
  for (std::size_t at = begin; (at = text.find("\n| `", at)) < text.find("\n\n", begin); ++at) ++rows;
  EXPECT_EQ(rows, judge::rule_words().size()) << "the page has a word that no output has";
}

/// The rules of a test of one thread, and of its first count.
struct Judged {
  Judged(WindowSummary before, WindowSummary after) : before_(std::move(before)), after_(std::move(after)) {
    for (WindowSummary* window : {&before_, &after_}) window->has_other_threads = is_threaded_;
    rows = {judge::compare_windows(&before_, &after_, {})};
    judge::decide_doubts(rows);
  }
  std::string rules() const {
    return std::string(judge::to_string(rows[0].rule)) +
           (rows[0].deltas.empty() ? "" : " " + std::string(judge::to_string(rows[0].deltas[0].rule)));
  }

  WindowSummary before_;
  WindowSummary after_;
  std::vector<Comparison> rows;
  inline static bool is_threaded_ = false;
};

std::string rules_of(const std::string& name, const stats::Numbers& before, const stats::Numbers& after) {
  return Judged(judge::window({syscall(name, before)}), judge::window({syscall(name, after)})).rules();
}

TEST(RuleWords, SayWhatMadeTheVerdictAndWhatJudgedTheCount) {
  EXPECT_EQ(rules_of("write", exact(3), exact(3)), "equal");
  EXPECT_EQ(rules_of("write", exact(3), exact(4)), "growth exact");
  EXPECT_EQ(rules_of("write", exact(4), exact(3)), "fewer exact");
  EXPECT_EQ(rules_of("fsync", exact(4), exact(3)), "syncs exact");
  EXPECT_EQ(rules_of("write", spread_of({3, 5}), spread_of({4, 6})), "spread spread");
  EXPECT_EQ(rules_of("write", spread_of({3, 5}), spread_of({6, 7})), "chance chance");
  EXPECT_EQ(rules_of("futex", exact(3), exact(4)), "equal not-gated");
  EXPECT_EQ(Judged(judge::window({syscall("write", exact(9))}), judge::window({syscall("writev", exact(1))})).rules(),
            "exchange exact");
  Judged::is_threaded_ = true;
  EXPECT_EQ(rules_of("write", exact(3), exact(4)), "chance chance");
  EXPECT_EQ(rules_of("write", spread_of({3, 3, 3, 3, 3, 3, 3}), spread_of({5, 5, 5, 5, 5, 5, 6})), "growth all-runs");
  Judged::is_threaded_ = false;
}

TEST(RuleWords, OfWhatIsNotJudgedSayWhy) {
  WindowSummary failed = judge::window({syscall("write", exact(3))});
  failed.outcomes = {{"failed", 2}};
  EXPECT_EQ(Judged(judge::window({syscall("write", exact(3))}), failed).rules(), "outcome");
  WindowSummary lossy = judge::window({syscall("write", exact(3))});
  lossy.lost = 3;
  EXPECT_EQ(Judged(judge::window({syscall("write", exact(3))}), lossy).rules(), "losses");
  WindowSummary filtered = judge::window({syscall("write", exact(3))});
  filtered.filters = {"read"};
  EXPECT_EQ(Judged(judge::window({syscall("write", exact(3))}), filtered).rules(), "no-common-count");
  const WindowSummary alone = judge::window({});
  EXPECT_EQ(judge::compare_windows(&alone, nullptr, {}).rule, Rule::one_side);
}

TEST(RuleWords, OfACountWithinAToleranceSaySo) {
  judge::CountPolicy policy;
  EXPECT_FALSE(policy.add_tolerance("write=2"));
  const WindowSummary before = judge::window({syscall("write", exact(3))});
  const WindowSummary after = judge::window({syscall("write", exact(5))});
  const Comparison row = judge::compare_windows(&before, &after, policy);
  EXPECT_EQ(row.rule, Rule::tolerance);
  EXPECT_EQ(row.deltas.at(0).rule, Rule::tolerance);
}

}  // namespace
}  // namespace syscost::bench
