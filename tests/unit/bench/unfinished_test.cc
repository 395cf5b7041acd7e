// SPDX-License-Identifier: MIT
#include "model/unfinished.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "csv_text.h"
#include "loaded.h"

namespace syscost::bench {
namespace {

using model::failed_outside_of_tests;
using model::unfinished_programs;
using testing::Cells;
using testing::load;
using testing::run_row;
using testing::test_row;

std::string begins(const Cells& cells = {}) {
  Cells all = {{"window", "begin"}, {"detail", "cpus=2;process_start=77"}};
  for (const auto& [name, value] : cells) all[name] = value;
  return run_row(all);
}

std::string ends(const Cells& cells = {}) {
  Cells all = {{"window", "end"}, {"detail", ""}, {"outcome", "passed"}};
  for (const auto& [name, value] : cells) all[name] = value;
  return run_row(all);
}

std::vector<std::string> texts(const std::string& rows, const model::LoadOptions& options = {}) {
  std::vector<std::string> texts;
  for (const model::Unfinished& one : unfinished_programs(load(rows, options).data)) texts.push_back(text_of(one));
  return texts;
}

using Texts = std::vector<std::string>;

/// The name of the program in the rows.
std::string program() {
  const model::Dataset data = load(test_row()).data;
  return data.text(data.contexts[0].program);
}

TEST(Unfinished, IsNoProgramThatCameToItsEnd) {
  EXPECT_EQ(texts(begins() + test_row() + ends()), Texts());
}

TEST(Unfinished, IsNoProgramOfAFileThatDoesNotSayIt) {
  EXPECT_EQ(texts(run_row() + test_row()), Texts());
  EXPECT_EQ(texts(test_row()), Texts());
}

TEST(Unfinished, NamesTheTestBeforeTheCrash) {
  EXPECT_EQ(texts(begins() + test_row({{"test", "A.One"}}) + test_row({{"test", "A.Two"}})),
            Texts{program() + " crashed after A.Two"});
}

TEST(Unfinished, WithoutARowHasNoTestToName) {
  EXPECT_EQ(texts(begins()), Texts{program() + " crashed before its first test had a row"});
  EXPECT_EQ(texts(begins({{"test", "A.Only"}})), Texts{program() + " crashed in A.Only"});
}

TEST(Unfinished, ByExitNamesTheTestThatCalledIt) {
  const Texts found = texts(begins() + test_row({{"test", "A.One"}}) + test_row({{"test", "A.Two"}, {"outcome", ""}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].find(program() + " ended in A.Two, by exit()"), 0U) << found[0];
}

TEST(Unfinished, IsTheProgramThatLacksItsEndAndNoOther) {
  const Cells other = {{"pid", "99"}, {"program", "other"}};
  const Cells of_other = {{"pid", "99"}, {"program", "other"}, {"test", "B.One"}};
  EXPECT_EQ(texts(begins() + begins(other) + test_row(of_other) + test_row() + ends()),
            Texts{"other crashed after B.One"});
}

TEST(Unfinished, IsNoProgramThatExecutedAnotherOneBeforeItsTests) {
  const Cells again = {{"started_at", "2026-11-22T01:52:31.123456Z"}};
  EXPECT_EQ(texts(begins() + begins(again) + ends(again)), Texts());
  // Another process of the same number is another process.
  const Cells later = {{"started_at", "2026-11-22T01:52:31.123456Z"}, {"detail", "process_start=78"}};
  EXPECT_EQ(texts(begins() + begins(later) + ends(later)).size(), 1U);
  // What ran before the exec was a test, and its others are missing.
  EXPECT_EQ(texts(begins() + test_row() + begins(again) + ends(again)).size(), 1U);
}

TEST(Unfinished, IsOfTheChosenRun) {
  const Cells later = {{"run_id", "r2"}, {"started_at", "2026-11-22T01:52:31.123456Z"}};
  EXPECT_EQ(texts(begins() + begins(later) + ends(later)), Texts());
  model::LoadOptions older;
  older.run_id = "oldest";
  EXPECT_EQ(texts(begins() + begins(later) + ends(later), older).size(), 1U);
}

TEST(Unfinished, NamesNoTestWhereOthersWereNotRead) {
  model::LoadOptions some;
  some.tests = model::TestChoice("A.One");
  EXPECT_EQ(texts(begins() + test_row({{"test", "A.One"}}) + test_row({{"test", "A.Two"}}), some),
            Texts{program() + " crashed"});
}

TEST(Unfinished, ChangesNoSurroundings) {
  const model::Dataset data = load(begins() + test_row() + ends()).data;
  EXPECT_EQ(data.runs.size(), 2U);
}

TEST(FailedOutside, IsAProgramThatFailedThoughNoTestDid) {
  const std::string failed = ends({{"outcome", "failed"}});
  EXPECT_EQ(failed_outside_of_tests(load(begins() + test_row() + failed).data), Texts{program()});
  EXPECT_EQ(failed_outside_of_tests(load(begins() + test_row({{"outcome", "failed"}}) + failed).data), Texts());
  EXPECT_EQ(failed_outside_of_tests(load(begins() + test_row() + ends()).data), Texts());
}

}  // namespace
}  // namespace syscost::bench
