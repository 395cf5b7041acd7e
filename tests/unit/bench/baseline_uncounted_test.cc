// SPDX-License-Identifier: MIT
//
// Baselines of, and checks against, what was not counted: lost events, and counts that one side lacks.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "baseline_file.h"

namespace syscost::bench {
namespace {

// One program with lost events must not keep all others from having a baseline.
TEST_F(BaselineFile, TakesATestWithLostEventsWithoutCountsWhereToldTo) {
  const std::string lost = make_run("lost", 3, 5, 0, "passed", 6);
  ASSERT_EQ(update({lost}), 2);
  EXPECT_NE(err_.str().find("S.One cannot be a baseline: 6 events of it were lost or late"), std::string::npos);
  EXPECT_NE(err_.str().find("no baseline was written; --allow-lost writes such tests without counts"),
            std::string::npos)
      << err_.str();
  ASSERT_EQ(update({lost, "--allow-failed"}), 2) << "another reason";
  ASSERT_EQ(update({lost, "--allow-lost"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("1 window without counts, which check does not judge: S.One\n"), std::string::npos)
      << out_.str();
  EXPECT_NE(text().find("tests\tS.One\t-\twindow\ttest lost 1\ntests\tS.Two"), std::string::npos) << text();
  // It loses events again: no other count of it is known, so it is not judged, and check says that.
  EXPECT_EQ(check(make_run("again", 9, 5, 0, "passed", 1)), 0) << out_.str();
  EXPECT_NE(out_.str().find("when the baseline was made, so its counts are not judged"), std::string::npos)
      << out_.str();
  EXPECT_EQ(check(make_run("more", 3, 6, 0, "passed", 1)), 1) << "the other test is judged: " << out_.str();
  EXPECT_EQ(check(make_run("failed", 3, 5, 0, "failed", 1)), 1) << "a failure is red: " << out_.str();
  // It has counts for the first time.
  EXPECT_EQ(check(make_run("whole", 3, 5)), 0) << out_.str();
  EXPECT_NE(out_.str().find("1 new, 1 same"), std::string::npos) << out_.str();
  EXPECT_EQ(check(path("whole.csv"), {"--all"}), 0);
  EXPECT_NE(out_.str().find("its counts were lost or missing when the baseline was made"), std::string::npos);
  ASSERT_EQ(check(path("whole.csv"), {"--update"}), 0) << err_.str();
  EXPECT_EQ(check(make_run("four", 4, 5)), 1) << out_.str();
}

TEST_F(BaselineFile, NamesTheOptionsForTestsThatCannotBeInIt) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  EXPECT_EQ(check(make_run("lost", 4, 5, 0, "passed", 1), {"--update"}), 2);
  EXPECT_NE(err_.str().find("; --allow-lost writes such tests"), std::string::npos) << err_.str();
  EXPECT_EQ(check(path("lost.csv"), {"--allow-lost"}), 2) << "nothing is written";
  EXPECT_EQ(check(path("lost.csv"), {"--update", "--allow-lost"}), 0) << err_.str();
  EXPECT_NE(text().find("test lost 1"), std::string::npos) << text();
  ASSERT_EQ(update({make_run("failed", 3, 5, 0, "failed")}), 2);
  EXPECT_NE(err_.str().find("; --allow-failed writes such tests"), std::string::npos) << err_.str();
}

// The flags of openat2 are in memory, where one backend does not look.
TEST_F(BaselineFile, SaysWhatItLeavesOutBecauseOneTestDoesNotTell) {
  const std::string run = make_run("opens", 3, 5);
  std::ofstream(run, std::ios::app)
      << testing::test_row(
             {{"run_id", "opens"}, {"test", "S.Opens"}, {"total_calls", "1"}, {"total_entries", "1"}, {"lost", "0"}})
      << testing::syscall_row({{"run_id", "opens"},
                               {"test", "S.Opens"},
                               {"syscall", "openat2"},
                               {"calls", "1"},
                               {"entries", "1"},
                               {"errors", "0"}});
  ASSERT_EQ(update({run}), 0) << err_.str();
  EXPECT_NE(out_.str().find("note: the baseline does not say which opens were with O_SYNC, because 1 of 3 windows does "
                            "not tell it (the first: S.Opens); measure all runs by the backend ebpf: only it sees the "
                            "flags of openat2\n"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(text().find("opens\n"), std::string::npos) << text();
}

// Backends that count calls, and one that counts entries and sees no results.
TEST_F(BaselineFile, ComparesEntriesWithARunThatHasNoCalls) {
  const std::string whole = make_run("whole", 3, 5, 1);
  ASSERT_EQ(update({whole}), 0) << err_.str();
  EXPECT_NE(text().find("measured\tcalls errors entries opens\n"), std::string::npos) << text();
  const std::string entries = without(whole, "entries", {"calls", "total_calls", "errors", "errnos"});
  EXPECT_EQ(check(entries), 0) << out_.str();
  EXPECT_NE(out_.str().find("which calls fail was measured in OLD alone, so failed calls of 2 tests"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(check(without(make_run("more", 4, 5), "fewer", {"calls", "total_calls", "errors", "errnos"})), 1);
  // The other way round there is no errno that is new.
  ASSERT_EQ(update({entries}), 0) << err_.str();
  EXPECT_EQ(check(whole), 0) << out_.str();
  EXPECT_EQ(check(path("more.csv")), 1) << out_.str();
}

TEST_F(BaselineFile, JudgesNothingWhereNoCountIsOnBothSides) {
  const std::string whole = make_run("whole", 3, 5);
  const std::string calls = without(whole, "calls", {"entries", "total_entries"});
  const std::string entries = without(whole, "entries", {"calls", "total_calls", "errors"});
  ASSERT_EQ(update({calls}), 0) << err_.str();
  EXPECT_NE(text().find("\nmeasured\tcalls errors opens\n"), std::string::npos) << text();
  EXPECT_EQ(check(entries), 3) << out_.str();
  EXPECT_EQ(
      out_.str().find("verdict: no answer, exit code 3: 2 of 2 tests could not be compared: OLD counted calls, NEW "
                      "entries:"),
      0U)
      << out_.str();
  EXPECT_EQ(run({"compare", calls, entries}), 3) << "compare agrees: " << out_.str();
  EXPECT_EQ(
      out_.str().find("verdict: no answer, exit code 3: 2 of 2 tests could not be compared: OLD counted calls, NEW "
                      "entries"),
      0U)
      << out_.str();
  EXPECT_EQ(run({"compare", calls, entries, "--gate", "none"}), 0);
  EXPECT_EQ(run({"compare", calls, whole}), 0) << out_.str();
}

// For example a test with a sandbox of its own: a test without counts must not take the verdict from all others.
TEST_F(BaselineFile, OneTestWithoutCountsLeavesTheVerdictToTheOthers) {
  const std::string old_run = make_run("old", 3, 5);
  const std::string same = uncounted(make_run("same", 3, 5), "same_void", {"S.One"});
  const std::string grown = uncounted(make_run("grown", 3, 6), "grown_void", {"S.One"});
  const std::string none = uncounted(make_run("none", 3, 5), "none_void", {"S.One", "S.Two"});
  ASSERT_EQ(update({old_run}), 0) << err_.str();
  const std::string part = "1 of 2 tests could not be compared: 1 of 1 repetitions of ";
  const auto says = [&](const std::string& line) {
    return out_.str().substr(0, out_.str().find('\n')).find(line) == 0;
  };

  EXPECT_EQ(run({"compare", old_run, same}), 0);
  EXPECT_TRUE(says("verdict: ok, exit code 0: no test fails (counts); " + part + "NEW were not counted: S.One"))
      << out_.str();
  EXPECT_EQ(run({"compare", uncounted(old_run, "old_void", {"S.One"}), same}), 0) << "on both sides: " << out_.str();
  EXPECT_EQ(run({"compare", old_run, same, "--format", "json"}), 0);
  EXPECT_NE(out_.str().find("\"exit_code\": 0"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"compare", old_run, same, "--format", "md"}), 0);
  EXPECT_NE(out_.str().find(part), std::string::npos) << out_.str();
  EXPECT_EQ(check(same), 0) << out_.str() << err_.str();
  EXPECT_TRUE(says("verdict: ok, exit code 0: no test fails (counts); " + part + "NEW were not counted: S.One"))
      << out_.str();

  EXPECT_EQ(run({"compare", old_run, same, "--strict"}), 3);
  EXPECT_TRUE(says("verdict: no answer, exit code 3: 1 test without a verdict (--strict); " + part)) << out_.str();
  EXPECT_EQ(check(same, {"--strict"}), 3) << out_.str();
  EXPECT_TRUE(says("verdict: no answer, exit code 3: 1 test without a verdict (--strict); " + part)) << out_.str();

  EXPECT_EQ(run({"compare", old_run, grown}), 1);
  EXPECT_EQ(check(grown), 1) << out_.str();
  EXPECT_EQ(run({"compare", old_run, none}), 3);
  EXPECT_EQ(check(none), 3) << "nothing was judged: " << out_.str();
}

}  // namespace
}  // namespace syscost::bench
