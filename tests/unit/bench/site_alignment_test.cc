// SPDX-License-Identifier: MIT
#include "stats/sites.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace syscost::bench::stats {
namespace {

using Sites = std::vector<std::pair<std::string, double>>;

std::vector<SiteCount> counts(const Sites& sites) {
  std::vector<SiteCount> list;
  for (const auto& [text, count] : sites) list.push_back({model::parse_site("at " + text), {1, count, count, count}});
  return list;
}

/// `+100 src/log.cc:10 f new`, one for each change.
std::vector<std::string> changes(const Sites& before, const Sites& now, double rounding = 0) {
  std::vector<std::string> texts;
  for (const SiteChange& one : align_sites(counts(before), counts(now), rounding)) {
    const char* word = one.kind == SiteChange::Kind::is_new ? " new"
                       : one.kind == SiteChange::Kind::gone ? " gone"
                                                            : "";
    texts.push_back(fmt::format("{:+} {}{}", one.more(), model::text_of(one.site), word));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(SiteAlignment, NamesWhatIsNewAndWhatIsGone) {
  EXPECT_EQ(changes({{"log.cc:13 Log::close+2", 1}}, {{"log.cc:10 Log::batch+1", 100}}),
            (Texts{"+100 log.cc:10 Log::batch new", "-1 log.cc:13 Log::close gone"}));
}

TEST(SiteAlignment, SeesNoChangeInLinesBelowInsertedText) {
  EXPECT_EQ(changes({{"a.cc:10 f+3", 100}, {"a.cc:30 g+1", 7}}, {{"a.cc:14 f+3", 100}, {"a.cc:34 g+1", 7}}), Texts());
}

TEST(SiteAlignment, SeesNoChangeInLinesBelowTextInsertedIntoTheFunction) {
  EXPECT_EQ(changes({{"a.cc:10 f+3", 100}, {"a.cc:12 f+5", 1}}, {{"a.cc:12 f+5", 100}, {"a.cc:14 f+7", 1}}), Texts())
      << "line f+5 of NEW is line f+3 of OLD, and no growth of f+5";
  EXPECT_EQ(changes({{"a.cc:10 f", 4}, {"a.cc:12 f", 2}}, {{"a.cc:20 f", 4}, {"a.cc:29 f", 2}}), Texts())
      << "the first line of f is unknown";
}

TEST(SiteAlignment, FindsTheLineThatGrewAmongLinesThatMoved) {
  EXPECT_EQ(changes({{"a.cc:10 f+3", 5}, {"a.cc:12 f+5", 1}, {"a.cc:14 f+7", 9}},
                    {{"a.cc:11 f+4", 5}, {"a.cc:13 f+6", 2}, {"a.cc:15 f+8", 9}}),
            (Texts{"+2 a.cc:13 f new", "-1 a.cc:12 f gone"}))
      << "whether these two lines are one is not known";
  EXPECT_EQ(changes({{"a.cc:10 f+3", 5}, {"a.cc:12 f+5", 1}}, {{"a.cc:20 f+3", 5}, {"a.cc:22 f+5", 4}}),
            (Texts{"+3 a.cc:22 f"}));
}

TEST(SiteAlignment, FindsALineThatWasInserted) {
  EXPECT_EQ(
      changes({{"a.cc:10 f+3", 5}, {"a.cc:11 f+4", 5}}, {{"a.cc:10 f+3", 5}, {"a.cc:11 f+4", 7}, {"a.cc:12 f+5", 5}}),
      (Texts{"+7 a.cc:11 f new"}));
}

TEST(SiteAlignment, KnowsAFunctionByItsCallsIfItsNameOrItsFileChanged) {
  EXPECT_EQ(changes({{"a.cc:10 f+3", 5}, {"a.cc:12 f+5", 1}}, {{"a.cc:40 renamed+3", 5}, {"a.cc:49 renamed+9", 1}}),
            Texts());
  EXPECT_EQ(changes({{"a.cc:10 f+3", 5}}, {{"b/a.cc:10 f+3", 5}}), Texts());
  EXPECT_EQ(changes({{"a.cc:10 f+3", 5}}, {{"b.cc:10 g+3", 5}}), (Texts{"+5 b.cc:10 g new", "-5 a.cc:10 f gone"}));
}

TEST(SiteAlignment, ComparesABuildWithLinesWithOneWithout) {
  EXPECT_EQ(changes({{"tests f", 6}}, {{"a.cc:10 f+3", 5}, {"a.cc:12 f+5", 1}}), Texts());
  EXPECT_EQ(changes({{"a.cc:10 f+3", 5}, {"a.cc:12 f+5", 1}}, {{"tests f", 6}}), Texts());
}

TEST(SiteAlignment, MatchesAddressesOfAModuleByTheirOrder) {
  EXPECT_EQ(changes({{"a.so+0x10", 5}, {"a.so+0x20", 1}}, {{"a.so+0x30", 5}, {"a.so+0x50", 1}}), Texts());
}

TEST(SiteAlignment, TakesFiguresWithinTheRoundingAsEqual) {
  EXPECT_EQ(changes({{"a.cc:10 f+3", 1.0}}, {{"a.cc:10 f+3", 1.0009}}, 0.001), Texts());
  EXPECT_EQ(changes({{"a.cc:10 f+3", 0.1 + 0.2}}, {{"a.cc:10 f+3", 0.3}}), Texts());
}

TEST(SiteAlignment, TakesCountsThatVaryAsEqualIfTheirRangesOverlap) {
  const auto vary = [](double low, double high) {
    return std::vector<SiteCount>{{model::parse_site("at a.cc:1 f+1"), {3, low, low, high}}};
  };
  EXPECT_TRUE(align_sites(vary(3, 6), vary(5, 9), 0).empty());
  EXPECT_EQ(align_sites(vary(3, 6), vary(7, 9), 0).size(), 1U);
}

TEST(SiteAlignment, AddsUpForAGeneratedFunctionOfThousandsOfLines) {
  Sites before;
  Sites now;
  for (int i = 0; i < 1500; ++i) {
    before.emplace_back(fmt::format("a.cc:{} f+{}", i + 10, i), i % 7);
    now.emplace_back(fmt::format("a.cc:{} f+{}", i + 90, i), i % 7 + (i == 700 ? 4 : 0));
  }
  EXPECT_EQ(changes(before, now), (Texts{"+4 a.cc:790 f"}));
}

}  // namespace
}  // namespace syscost::bench::stats
