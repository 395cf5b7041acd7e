// SPDX-License-Identifier: MIT
//
// A change that a project accepts is green and shown; all else of the same test is judged as before.
#include "judge/accept.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "commands/compare/count_rules.h"
#include "judge/open_counts.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

Accept accept_of(const std::string& what, const std::string& test = "S.T") {
  Accept one;
  one.where = "syscost.toml:1";
  one.tests.patterns = {test};
  one.reason = "it is meant";
  one.is_in_file = true;
  const std::string fault = what.empty() ? "" : one.changes.read(what);
  EXPECT_EQ(fault, "") << what;
  return one;
}

using Counts = std::vector<std::pair<std::string, double>>;

stats::WindowSummary calls_of(const Counts& counts) {
  std::vector<stats::SyscallSummary> calls;
  for (const auto& [name, count] : counts) calls.push_back(syscall(name, exact(count)));
  stats::WindowSummary one = window(std::move(calls));
  one.kind = "test";
  one.program = "tests";
  return one;
}

class Accepts : public ::testing::Test {
 protected:
  const Comparison& judge(const Counts& before, const Counts& after, const std::vector<Accept>& accepts) {
    return judge_windows(calls_of(before), calls_of(after), accepts);
  }
  const Comparison& judge_windows(const stats::WindowSummary& before, const stats::WindowSummary& after,
                                  const std::vector<Accept>& accepts) {
    windows_.push_back(before);
    windows_.push_back(after);
    rows_ = {compare_windows(&windows_[windows_.size() - 2], &windows_.back(), {})};
    accept_changes(accepts, rows_);
    decide_doubts(rows_);
    unused_ = unused_accepts(accepts, rows_);
    return rows_.front();
  }
  std::string unused() const { return unused_.empty() ? "" : unused_.front(); }

 private:
  std::deque<stats::WindowSummary> windows_;
  std::vector<Comparison> rows_;
  std::vector<std::string> unused_;
};

TEST_F(Accepts, TurnARedChangeGreenWithItsReason) {
  const Comparison& row = judge({{"openat", 1}}, {{"openat", 2}}, {accept_of("openat")});
  EXPECT_EQ(row.verdict, Verdict::accepted);
  EXPECT_EQ(row.reason, "it is meant (syscost.toml:1)");
  EXPECT_EQ(unused(), "");
}

TEST_F(Accepts, LeaveRedWhatTheyDoNotMatch) {
  const Comparison& row = judge({{"openat", 1}, {"socket", 1}}, {{"openat", 2}, {"socket", 2}}, {accept_of("openat")});
  EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_EQ(row.reason, "a part is accepted: it is meant (syscost.toml:1)");
  EXPECT_EQ(unused(), "") << "it changed what is red";
}

TEST_F(Accepts, OfATestMeanAnyChangeOfItsCounts) {
  EXPECT_EQ(judge({{"openat", 1}, {"fsync", 4}}, {{"openat", 2}, {"socket", 2}}, {accept_of("")}).verdict,
            Verdict::accepted);
}

TEST_F(Accepts, OfOtherTestsDoNothing) {
  EXPECT_EQ(judge({{"openat", 1}}, {{"openat", 2}}, {accept_of("", "S.Other")}).verdict, Verdict::regressed);
  EXPECT_EQ(unused(), "accept of S.Other (syscost.toml:1) matched nothing: no test of these runs has this name");
}

TEST_F(Accepts, SuggestTheNameThatWasMeant) {
  judge({{"openat", 1}}, {{"openat", 2}}, {accept_of("openat", "S.TT")});
  EXPECT_EQ(unused(),
            "accept of S.TT: openat (syscost.toml:1) matched nothing: no test of these runs has this name; did you "
            "mean S.T?");
}

TEST_F(Accepts, EndWhenTheBaseHasTheChange) {
  EXPECT_EQ(judge({{"openat", 2}}, {{"openat", 2}}, {accept_of("openat")}).verdict, Verdict::same);
  EXPECT_EQ(unused(), "accept of S.T: openat (syscost.toml:1) matched nothing: the base has it, remove it");
  Accept of_commit = accept_of("");
  of_commit.is_in_file = false;
  judge({{"openat", 2}}, {{"openat", 2}}, {of_commit});
  EXPECT_EQ(unused(), "accept of S.T (syscost.toml:1) matched nothing: the base has it");
}

TEST_F(Accepts, SayThatWhatTheyMeanIsGreenAnyhow) {
  EXPECT_EQ(judge({{"write", 300}}, {{"writev", 1}}, {accept_of("writev")}).verdict, Verdict::exchanged);
  EXPECT_EQ(unused(), "accept of S.T: writev (syscost.toml:1) matched nothing: S.T is exchanged without it, remove it");
}

TEST_F(Accepts, SayThatSomethingElseChanged) {
  EXPECT_EQ(judge({{"openat", 1}}, {{"openat", 4}}, {accept_of("+1 openat")}).verdict, Verdict::regressed);
  EXPECT_EQ(unused(), "accept of S.T: +1 openat (syscost.toml:1) matched nothing: S.T changed in another way");
}

TEST_F(Accepts, OfSyncsTakeOneWayOnly) {
  for (const auto& [what, is_green] :
       {std::pair("fewer syncs", true), std::pair("more syncs", false), std::pair("fewer syncs: 4 -> 0", true),
        std::pair("fewer syncs: 4 -> 1", false), std::pair("fsync", true), std::pair("syncs", true),
        std::pair("-4 fsync", true), std::pair("-3 fsync", false), std::pair("%memory", false)}) {
    const Comparison& row = judge({{"fsync", 4}, {"write", 4}}, {{"write", 4}}, {accept_of(what)});
    EXPECT_EQ(row.verdict, is_green ? Verdict::accepted : Verdict::regressed) << what;
  }
}

// Accepted are the syncs of a family, not each one in it: fdatasync in the place of fsync is another matter.
TEST_F(Accepts, OfOneSyncLeaveOthersJudged) {
  EXPECT_EQ(judge({{"fsync", 4}}, {{"fdatasync", 1}}, {accept_of("fsync")}).verdict, Verdict::regressed);
  EXPECT_EQ(judge({{"fsync", 4}}, {{"fdatasync", 1}}, {accept_of("fewer syncs")}).verdict, Verdict::accepted);
}

TEST_F(Accepts, OfFailuresAreOfTheirErrno) {
  stats::WindowSummary before = calls_of({{"openat", 3}});
  stats::WindowSummary after = before;
  (*after.syscalls[0].errnos)["ENOENT"] = exact(1);
  for (const char* what : {"ENOENT", "+1 ENOENT (new in openat)", "openat", "%file"}) {
    after.syscalls[0].classes = before.syscalls[0].classes = "file;desc";
    EXPECT_EQ(judge_windows(before, after, {accept_of(what)}).verdict, Verdict::accepted) << what;
  }
  for (const char* what : {"EACCES", "+1 openat", "+1 ENOENT (new in stat)"}) {
    EXPECT_EQ(judge_windows(before, after, {accept_of(what)}).verdict, Verdict::regressed) << what;
  }
}

TEST_F(Accepts, TakeCountsOutOfDoubt) {
  stats::WindowSummary before = calls_of({{"write", 300}});
  stats::WindowSummary after = calls_of({{"writev", 1}});
  before.has_other_threads = after.has_other_threads = true;
  EXPECT_EQ(judge_windows(before, after, {}).verdict, Verdict::in_doubt);
  EXPECT_EQ(judge_windows(before, after, {accept_of("data out")}).verdict, Verdict::accepted);
  const Comparison& half = judge_windows(before, after, {accept_of("+1 writev")});
  EXPECT_EQ(half.verdict, Verdict::in_doubt) << "the 300 write are not accepted";
}

// Else who accepts something that shrank by chance would let something else grow.
TEST_F(Accepts, OfADoubtPayForNothing) {
  stats::WindowSummary before = calls_of({{"read", 9}, {"pread64", 1}});
  stats::WindowSummary after = calls_of({{"read", 4}, {"pread64", 6}});
  before.syscalls[0].calls = stats::spread_of({8, 9});  // it varies, pread64 does not
  EXPECT_EQ(judge_windows(before, after, {}).verdict, Verdict::regressed);
  EXPECT_EQ(judge_windows(before, after, {accept_of("read")}).verdict, Verdict::regressed);
  EXPECT_EQ(judge_windows(before, after, {accept_of("data in")}).verdict, Verdict::accepted);
}

TEST_F(Accepts, OfAThreadTakeWhatTheLibraryDoesForIt) {
  EXPECT_EQ(judge({{"write", 1}}, {{"write", 1}, {"clone3", 1}, {"mmap", 1}, {"mprotect", 1}, {"rt_sigprocmask", 2}},
                  {accept_of("clone3")})
                .verdict,
            Verdict::accepted);
}

TEST_F(Accepts, TurnNothingRed) {
  // Without the look-ups that went, the opens that came would be red.
  EXPECT_EQ(judge({{"newfstatat", 5}}, {{"openat", 4}}, {accept_of("newfstatat")}).verdict, Verdict::exchanged);
  EXPECT_EQ(judge({{"newfstatat", 5}}, {{"openat", 4}, {"socket", 1}}, {accept_of("newfstatat, socket")}).verdict,
            Verdict::accepted);
}

TEST_F(Accepts, DoNotHideATestThatFailedOrLostCounts) {
  const stats::WindowSummary before = calls_of({{"openat", 1}});
  stats::WindowSummary failed = calls_of({{"openat", 2}});
  failed.outcomes = {{"failed", 2}};
  EXPECT_EQ(judge_windows(before, failed, {accept_of("")}).verdict, Verdict::errored);
  EXPECT_EQ(unused(), "accept of S.T (syscost.toml:1) matched nothing: S.T is errored, which no accept hides");
  stats::WindowSummary lossy = calls_of({{"openat", 2}});
  lossy.lost = 3;
  EXPECT_EQ(judge_windows(before, lossy, {accept_of("")}).verdict, Verdict::inconclusive);
}

TEST_F(Accepts, OfLeaksAreOfDescriptorsThatStayOpen) {
  stats::WindowSummary before = calls_of({{"openat", 3}, {"close", 3}});
  stats::WindowSummary after = calls_of({{"openat", 3}, {"close", 1}});
  before.descriptors_left = exact(0);
  after.descriptors_left = exact(2);
  EXPECT_EQ(judge_windows(before, after, {}).verdict, Verdict::regressed);
  EXPECT_EQ(judge_windows(before, after, {accept_of("-2 close")}).verdict, Verdict::regressed) << "the columns say so";
  const Comparison& row = judge_windows(before, after, {accept_of("leaks")});
  EXPECT_EQ(row.verdict, Verdict::accepted);
  EXPECT_NE(row.reason.find("descriptors left open: +2"), std::string::npos) << row.reason;
  EXPECT_EQ(judge_windows(before, after, {accept_of("")}).verdict, Verdict::accepted);
  before.descriptors_left.reset();
  EXPECT_EQ(judge_windows(before, after, {}).verdict, Verdict::in_doubt);
  for (const char* what : {"leaks", "close", ""}) {
    EXPECT_EQ(judge_windows(before, after, {accept_of(what)}).verdict, Verdict::accepted) << what;
  }
  EXPECT_EQ(judge_windows(before, after, {accept_of("openat")}).verdict, Verdict::in_doubt);
}

TEST_F(Accepts, OfTwoPlacesAreBothShown) {
  Accept other = accept_of("socket");
  other.where = "commits.txt:7";
  other.reason = "also meant";
  const Comparison& row = judge({{"openat", 1}}, {{"openat", 2}, {"socket", 1}}, {accept_of("openat"), other});
  EXPECT_EQ(row.verdict, Verdict::accepted);
  EXPECT_EQ(row.reason, "it is meant (syscost.toml:1), also meant (commits.txt:7)");
}

TEST_F(Accepts, AreOfTheirProgram) {
  Accept one = accept_of("openat");
  one.tests.program = "others";
  EXPECT_EQ(judge({{"openat", 1}}, {{"openat", 2}}, {one}).verdict, Verdict::regressed);
  one.tests.program = "te*";
  EXPECT_EQ(judge({{"openat", 1}}, {{"openat", 2}}, {one}).verdict, Verdict::accepted);
  stats::WindowSummary before = calls_of({{"openat", 1}});
  stats::WindowSummary after = calls_of({{"openat", 2}});
  before.name = after.name = "S.T (tests)";  // several programs have it
  EXPECT_EQ(judge_windows(before, after, {accept_of("openat")}).verdict, Verdict::accepted);
  EXPECT_EQ(judge_windows(before, after, {accept_of("openat", "S.T (tests)")}).verdict, Verdict::accepted);
  EXPECT_EQ(judge_windows(before, after, {accept_of("openat", "S.T (others)")}).verdict, Verdict::regressed);
}

TEST_F(Accepts, AreNotRunAgain) {
  stats::WindowSummary before = calls_of({{"write", 300}, {"read", 1}});
  stats::WindowSummary after = calls_of({{"writev", 1}, {"read", 2}});
  before.has_other_threads = after.has_other_threads = true;
  const auto open_tests = [&](const std::vector<Accept>& accepts) {
    return OpenCounts({judge_windows(before, after, accepts)}, RunsAgain::both_sides).tests();
  };
  EXPECT_EQ(open_tests({}), 1U);
  EXPECT_EQ(open_tests({accept_of("data out")}), 1U) << "read is in doubt";
  EXPECT_EQ(open_tests({accept_of("data out, read")}), 0U);
}

// The printed line can be written into a commit message as it is.
TEST_F(Accepts, TakeTheLineThatBenchPrints) {
  const auto accepts_itself = [&](const stats::WindowSummary& before, const stats::WindowSummary& after) {
    const Comparison& row = judge_windows(before, after, {});
    EXPECT_EQ(row.verdict, Verdict::regressed) << row.name;
    std::string line = commands::accept_line(row);
    csv::Problems problems;
    const std::vector<Accept> accepts = commands::parse_accept_lines("log", line + '\n', problems);
    EXPECT_EQ(problems.count(), 0U) << line;
    EXPECT_EQ(judge_windows(before, after, accepts).verdict, Verdict::accepted) << line;
    return line;
  };
  EXPECT_EQ(accepts_itself(calls_of({{"openat", 1}, {"write", 4}}), calls_of({{"openat", 3}, {"write", 1}})),
            "Syscost-Accept: S.T: +2 openat -- REASON");
  EXPECT_EQ(accepts_itself(calls_of({{"fsync", 4}}), calls_of({{"fdatasync", 1}})),
            "Syscost-Accept: S.T: +1 fdatasync, -4 fsync -- REASON");
  stats::WindowSummary before = calls_of({{"openat", 3}, {"close", 3}});
  stats::WindowSummary after = before;
  (*after.syscalls[0].errnos)["ENOENT"] = exact(1);
  after.name = before.name = "Scenario: a \"log\" -- in German";
  before.descriptors_left = exact(0);
  after.descriptors_left = exact(1);
  EXPECT_EQ(accepts_itself(before, after),
            "Syscost-Accept: \"Scenario: a ?log? -- in German\": +1 ENOENT (new in openat), leaks -- REASON");
  for (const char* name : {"!S.T", "*", "ns::S<int>/0.T", "S.T (tests)", "a: b", "x -- y", "S.T, loop flush", "é ü"}) {
    before.name = after.name = name;
    accepts_itself(before, after);
  }
  before.kind = after.kind = "benchmark";
  before.name = after.name = "benchmark BM_Copy/8";
  before.per_run_calls = after.per_run_calls = exact(0);
  before.syscalls[0].calls = exact(0.25);
  after.syscalls[0].calls = exact(0.5834);
  EXPECT_EQ(accepts_itself(before, after),
            "Syscost-Accept: BM_Copy/8: +0.333 openat, +1 ENOENT (new in openat), leaks -- REASON");
  before.kind = after.kind = "suite";
  before.name = after.name = "suite S, set-up";
  accepts_itself(before, after);
}

TEST(Reason, IsOneLineThatCanBePrinted) {
  EXPECT_EQ(reason_text("  two\n  lines\t and a \x1b[31m"), "two lines and a \\x1b[31m");
  EXPECT_EQ(reason_text(" \n "), "");
}

TEST(ChangeChoice, SaysWhatIsWrong) {
  const auto fault = [](const std::string& text) {
    const std::string whole = ChangeChoice().read(text);
    return whole.substr(0, whole.find("; WHAT is"));
  };
  EXPECT_EQ(fault(""), "it is empty; leave it out for any change");
  EXPECT_EQ(fault("write,"), "a term is empty");
  EXPECT_EQ(fault("wirte"),
            "wirte: there is no such syscall; did you mean write or writev? (one that only "
            "another version of bench knows: /^wirte$/)");
  EXPECT_EQ(fault("+1 %file"), "+1 %file: a number is of one syscall or errno; leave it out: %file");
  EXPECT_EQ(fault("+x openat"), "+x openat: a number and a syscall or errno: +1 openat");
  EXPECT_EQ(fault("read 3 -> 4"), "read 3 -> 4: write the name without counts: read");
  EXPECT_EQ(fault("fewer syncs 3"), "syncs 3: write the counts as bench does: fewer syncs: 8 -> 1");
  for (const char* right :
       {"write", "+1 openat, -2 lseek; +1 EACCES (new in openat)", "+0.5 read (per run)", "/^epoll_/",
        "/a{1,2}/, !close", "ioctl TCGETS", "look-ups", "%file,!close", "more syncs", "*"}) {
    EXPECT_EQ(ChangeChoice().read(right), "") << right;
  }
}

}  // namespace
}  // namespace syscost::bench::judge
