// SPDX-License-Identifier: MIT
#include "model/incomplete_run.h"

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

using Texts = std::vector<std::string>;

std::vector<std::string> texts(const std::string& rows, const model::LoadOptions& options = {}) {
  std::vector<std::string> texts;
  for (const model::Unfinished& one : unfinished_programs(load(rows, options).data)) texts.push_back(text_of(one));
  return texts;
}

std::string exits(const std::string& how, const Cells& cells = {}) {
  Cells all = {{"window", "exit"}, {"detail", ""}, {"outcome", how}};
  for (const auto& [name, value] : cells) all[name] = value;
  return run_row(all);
}

Texts failed_texts(const std::string& rows, const model::LoadOptions& options = {}) {
  Texts texts;
  for (const model::FailedOutside& one : failed_outside_of_tests(load(rows, options).data)) {
    texts.push_back(text_of(one));
  }
  return texts;
}

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
  // A test ran before the exec, and the others of its program are missing.
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

TEST(Unfinished, SaysHowItsProcessEnded) {
  const std::string with_a_test = begins() + test_row({{"test", "A.One"}});
  EXPECT_EQ(texts(with_a_test + exits("SIGSEGV")), Texts{program() + " crashed after A.One, by SIGSEGV"});
  EXPECT_EQ(texts(with_a_test + exits("SIGKILL")), Texts{program() + " was ended after A.One, by SIGKILL"});
  EXPECT_EQ(texts(with_a_test + exits("exit code 0")), Texts{program() + " ended after A.One, with exit code 0"});
  EXPECT_EQ(failed_texts(with_a_test + exits("exit code 7")), Texts());
}

TEST(Unfinished, AlsoCrashesBeforeAndAfterItsTests) {
  EXPECT_EQ(texts(exits("SIGABRT")), Texts{program() + " crashed before it reported a test, by SIGABRT"});
  EXPECT_EQ(texts(begins() + test_row() + ends() + exits("SIGABRT")),
            Texts{program() + " crashed after its tests ended, by SIGABRT"});
  EXPECT_EQ(texts(begins() + test_row() + ends() + exits("SIGABRT", {{"pid", "99"}, {"program", "other"}})),
            Texts{"other crashed before it reported a test, by SIGABRT"});
}

// Catch2 and doctest end the test and the run in their signal handlers, and the signal ends the process then.
TEST(Unfinished, MayHaveCrashedInItsLastTestIfThatFailed) {
  const std::string of_no_outcome = ends({{"outcome", ""}});
  const std::string failed = test_row({{"test", "A.Last"}, {"outcome", "failed"}});
  EXPECT_EQ(texts(begins() + test_row({{"test", "A.One"}}) + failed + of_no_outcome + exits("SIGABRT")),
            Texts{program() + " crashed in A.Last or after it, by SIGABRT"});
  // GoogleTest's run came to its end.
  EXPECT_EQ(texts(begins() + failed + ends({{"outcome", "failed"}}) + exits("SIGABRT")),
            Texts{program() + " crashed after its tests ended, by SIGABRT"});
  EXPECT_EQ(texts(begins() + failed + test_row({{"test", "A.Passes"}}) + of_no_outcome + exits("SIGABRT")),
            Texts{program() + " crashed after its tests ended, by SIGABRT"});
  // It came from another process.
  EXPECT_EQ(texts(begins() + failed + of_no_outcome + exits("SIGKILL")),
            Texts{program() + " was ended in A.Last or after it, by SIGKILL"});
}

TEST(FailedOutside, IsAProgramThatFailedThoughNoTestDid) {
  const std::string failed = ends({{"outcome", "failed"}});
  EXPECT_EQ(failed_texts(begins() + test_row() + failed),
            Texts{program() +
                  " failed outside of its tests: in the set-up or tear-down of a suite or an environment, or in a "
                  "listener"});
  EXPECT_EQ(failed_texts(begins() + test_row({{"outcome", "failed"}}) + failed), Texts());
  EXPECT_EQ(failed_texts(begins() + test_row() + ends()), Texts());
}

TEST(FailedOutside, IsAProgramWithAnExitCodeThatNoTestExplains) {
  const std::string passed = begins() + test_row() + ends();
  EXPECT_EQ(failed_texts(passed + exits("exit code 7")),
            Texts{program() + " ended with exit code 7 although none of its tests failed"});
  EXPECT_EQ(texts(passed + exits("exit code 7")), Texts());
  EXPECT_EQ(failed_texts(begins() + test_row({{"outcome", "failed"}}) + ends() + exits("exit code 1")), Texts());
  // A program says with its exit code that it skipped all its tests.
  EXPECT_EQ(failed_texts(begins() + test_row({{"outcome", "skipped"}}) + ends() + exits("exit code 77")), Texts());
  EXPECT_EQ(failed_texts(exits("exit code 77")),
            Texts{program() + " ended with exit code 77 before it reported a test"});
}

TEST(FailedOutside, IsNotKnownWhereOthersWereNotRead) {
  model::LoadOptions some;
  some.tests = model::TestChoice("A.One");
  const std::string rows = begins() + test_row({{"test", "A.One"}}) + test_row({{"test", "A.Two"}}) + ends();
  EXPECT_EQ(failed_texts(rows + exits("exit code 7"), some), Texts());
}

}  // namespace
}  // namespace syscost::bench
