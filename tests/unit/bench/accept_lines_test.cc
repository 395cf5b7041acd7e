// SPDX-License-Identifier: MIT
#include "commands/compare/count_rules.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace syscost::bench::commands {
namespace {

struct Lines {
  std::vector<judge::Accept> accepts;
  std::string problems;
};

Lines parse(const std::string& text) {
  csv::Problems problems;
  Lines out{parse_accept_lines("log", text, problems), {}};
  std::ostringstream said;
  problems.print(said);
  out.problems = said.str();
  return out;
}

TEST(AcceptLines, SayTestChangesAndReason) {
  const Lines lines =
      parse("a subject\n\nSome text.\n\nSyscost-Accept: Log.Reads: +1 openat, ENOENT -- it is -- meant\n");
  ASSERT_EQ(lines.accepts.size(), 1U) << lines.problems;
  const judge::Accept& one = lines.accepts.front();
  EXPECT_EQ(one.tests.text(), "Log.Reads");
  EXPECT_EQ(one.changes.text(), "+1 openat, ENOENT");
  EXPECT_EQ(one.reason, "it is -- meant");
  EXPECT_EQ(one.where, "log:5");
  EXPECT_FALSE(one.is_in_file);
}

TEST(AcceptLines, NeedNoChanges) {
  const Lines lines = parse("syscost-accept: Log.* -- the log is new\r\n");
  ASSERT_EQ(lines.accepts.size(), 1U) << lines.problems;
  EXPECT_TRUE(lines.accepts.front().changes.is_any());
  EXPECT_EQ(lines.accepts.front().reason, "the log is new");
}

TEST(AcceptLines, MayGoOnInTheNextLine) {
  const Lines lines = parse("Syscost-Accept: Log.Reads: openat\n  -- each file\n\tis opened twice\nReviewed-by: x\n");
  ASSERT_EQ(lines.accepts.size(), 1U) << lines.problems;
  EXPECT_EQ(lines.accepts.front().reason, "each file is opened twice");
}

TEST(AcceptLines, TakeNamesOfAnyFramework) {
  const Lines lines = parse(
      "Syscost-Accept: a log is written once: openat -- Catch2\n"
      "Syscost-Accept: \"Scenario: a log is written -- twice\": openat -- in quotes\n"
      "Syscost-Accept: ns::Log<int>/0.Reads -- two colons\n"
      "Syscost-Accept: Log.Reads, loop flush -- a loop\n");
  ASSERT_EQ(lines.accepts.size(), 4U) << lines.problems;
  EXPECT_EQ(lines.accepts[0].tests.text(), "a log is written once");
  EXPECT_EQ(lines.accepts[1].tests.text(), "Scenario: a log is written -- twice");
  EXPECT_EQ(lines.accepts[1].changes.text(), "openat");
  EXPECT_EQ(lines.accepts[2].tests.text(), "ns::Log<int>/0.Reads");
  EXPECT_EQ(lines.accepts[3].tests.text(), "Log.Reads, loop flush");
}

TEST(AcceptLines, OfOneCommitTwiceAreOne) {
  const std::string line = "Syscost-Accept: Log.* -- the log is new\n";
  EXPECT_EQ(parse(line + "\n" + line).accepts.size(), 1U);
}

TEST(AcceptLines, ThatAreWrongSayHowToWriteThem) {
  const std::string write = "; write Syscost-Accept: TEST[: WHAT] -- REASON\n";
  EXPECT_EQ(parse("\nSyscost-Accept: Log.Reads: openat\n").problems, "log:2: the reason is missing" + write);
  EXPECT_EQ(parse("Syscost-Accept: Log.Reads --\n").problems, "log:1: the reason is empty" + write);
  EXPECT_EQ(parse("Syscost-Accept: Log.Reads - one dash\n").problems, "log:1: the reason is missing" + write);
  EXPECT_EQ(parse("Syscost-Accept:\n").problems, "log:1: the reason is missing" + write);
  EXPECT_EQ(parse("Syscost-Accept: -- why\n").problems,
            "log:1: the test is missing: a name, or a pattern with * and ?" + write);
  EXPECT_EQ(parse("Syscost-Accept: : openat -- why\n").problems,
            "log:1: the test is missing: a name, or a pattern with * and ?" + write);
  EXPECT_EQ(parse("Syscost-Accept: \"Log.Reads: openat -- why\n").problems,
            "log:1: the quotes of TEST do not end" + write);
  EXPECT_EQ(parse("Syscost-Accept: \"Log.Reads\" openat -- why\n").problems,
            "log:1: a colon stands between TEST and WHAT, not \"openat\"" + write);
  for (const char* token :
       {"Syscost-Accepts", "Syscost-Accepted", "Syscost-Acept", "SyscostAccept", "syscost_accept"}) {
    EXPECT_EQ(parse(std::string(token) + ": Log.Reads -- why\n").problems,
              "log:1: no line of bench begins like this" + write)
        << token;
  }
}

TEST(AcceptLines, LeaveAllOtherTextAlone) {
  for (const char* text :
       {"", "\n", "syscost-accept is a word of prose\n", "Signed-off-by: a\n", "a: b -- c",
        "syscost: accept more -- later\n", "Syscost-Accepting-is-hard-to-explain: so\n", "\xff\xfe\x00\x01"}) {
    const Lines lines = parse(text);
    EXPECT_TRUE(lines.accepts.empty()) << text;
    EXPECT_EQ(lines.problems, "") << text;
  }
}

TEST(AcceptLines, ThatAreIndentedAreNamedAndNotRead) {
  const Lines lines = parse("    Syscost-Accept: Log.Reads -- as `git log` prints it\n");
  EXPECT_TRUE(lines.accepts.empty());
  EXPECT_EQ(lines.problems,
            "log: note: 1 line with Syscost-Accept is indented, so it is not read: git log --format=%B prints commit "
            "messages as they are\n");
}

}  // namespace
}  // namespace syscost::bench::commands
