// SPDX-License-Identifier: MIT
//
// Rules that need the counts of a CSV alone: each on data where it must fire, and on data where it must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "csv_text.h"
#include "findings/find.h"
#include "findings/rule.h"
#include "loaded.h"
#include "model/group.h"

namespace syscost::bench::findings {
namespace {

using testing::Cells;
using testing::syscall_row;
using testing::test_row;

/// A measured window with these `syscall` rows.
std::string window(std::vector<Cells> rows, Cells totals = {}) {
  int calls = 0;
  std::string text;
  for (const Cells& row : rows) {
    calls += std::stoi(row.at("calls"));
    text += syscall_row(row);
  }
  totals.insert({{"total_calls", std::to_string(calls)}, {"total_errors", "0"}, {"total_bytes_read", "0"}});
  return test_row(totals) + text;
}

Findings find_in(const std::string& rows) {
  model::LoadOptions options;
  options.keep_sites = true;
  testing::Loaded loaded = testing::load(rows, options);
  EXPECT_EQ(loaded.problems, "");
  const std::vector<model::Group> groups = model::group_samples(loaded.data);
  return find(loaded.data, groups);
}

std::vector<std::string> evidence_of(const std::string& rule, const std::string& rows) {
  std::vector<std::string> out;
  for (const Finding& finding : find_in(rows).found) {
    if (finding.rule == rule) out.push_back(finding.evidence);
  }
  return out;
}

using Texts = std::vector<std::string>;

Cells calls(const std::string& syscall, int count, Cells more = {}) {
  more.insert({{"syscall", syscall}, {"calls", std::to_string(count)}, {"errors", "0"}});
  return more;
}

TEST(TinyWrites, FiresForManySmallWrites) {
  EXPECT_EQ(evidence_of("tiny-writes", window({calls("openat", 1), calls("write", 300, {{"bytes", "4800"}})})),
            Texts{"300 writes move 16 bytes each on average"});
}

TEST(TinyWrites, NamesTheLineThatWritesMost) {
  const Findings all =
      find_in(window({calls("write", 300, {{"bytes", "4800"}, {"detail", "at src/log.cc:17 Log::batch+3"}}),
                      calls("write", 2, {{"bytes", "32"}, {"detail", "at src/log.cc:40 Log::end"}})}));
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_EQ(all.found[0].site, "src/log.cc:17 Log::batch");
  EXPECT_EQ(all.found[0].syscall, "write");
  EXPECT_EQ(all.found[0].window, "Suite.Test");
}

TEST(TinyWrites, LeavesLargeFewAndMessagesAlone) {
  EXPECT_EQ(evidence_of("tiny-writes", window({calls("write", 300, {{"bytes", "1228800"}})})), Texts{});
  EXPECT_EQ(evidence_of("tiny-writes", window({calls("write", 40, {{"bytes", "640"}})})), Texts{});
  EXPECT_EQ(evidence_of("tiny-writes", window({calls("eventfd2", 1), calls("write", 300, {{"bytes", "2400"}})})),
            Texts{});
}

TEST(FsyncStorm, FiresForASyncPerWrite) {
  EXPECT_EQ(evidence_of("fsync-storm", window({calls("write", 100, {{"bytes", "409600"}}), calls("fdatasync", 100)})),
            Texts{"100 syncs for 100 writes"});
}

TEST(FsyncStorm, LeavesGroupsOfWritesAlone) {
  EXPECT_EQ(evidence_of("fsync-storm", window({calls("write", 500, {{"bytes", "2048000"}}), calls("fsync", 20)})),
            Texts{});
  EXPECT_EQ(evidence_of("fsync-storm", window({calls("write", 1, {{"bytes", "4096"}}), calls("fsync", 1)})), Texts{});
}

TEST(Findings, SayWhatWasNotCheckedAndWhy) {
  const Findings all =
      find_in(test_row({{"total_entries", "300"}}) + syscall_row({{"calls", ""}, {"errors", ""}, {"entries", "300"}}));
  EXPECT_TRUE(all.found.empty());
  const auto tiny = std::find_if(all.not_checked.begin(), all.not_checked.end(),
                                 [](const NotChecked& one) { return one.rule == "tiny-writes"; });
  ASSERT_NE(tiny, all.not_checked.end());
  EXPECT_EQ(tiny->reason, "the backend sees no results of calls");
  EXPECT_EQ(tiny->windows, 1U);
}

TEST(Rules, HaveNamesOfTheirOwnAndAnAnswer) {
  for (const Rule& rule : rules()) {
    EXPECT_EQ(rule_of(rule.name), &rule);
    EXPECT_TRUE(rule.definition.ends_with('.') && rule.remedy.ends_with('.')) << rule.name;
  }
}

}  // namespace
}  // namespace syscost::bench::findings
