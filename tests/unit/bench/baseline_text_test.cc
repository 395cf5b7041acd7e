// SPDX-License-Identifier: MIT
//
// Faults in the text of a baseline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/baseline.h"

namespace syscost::bench {
namespace {

struct Parsed {
  std::optional<model::Baseline> baseline;
  std::string said;
};

Parsed parsed_from(const std::string& text) {
  csv::Problems problems;
  Parsed out;
  out.baseline = model::parse_baseline("it", text, problems);
  std::ostringstream said;
  problems.print(said);
  out.said = said.str();
  return out;
}

/// A file of one window, which has these lines after `runs`, and this line last.
std::string file_with(const std::string& head, const std::string& line) {
  return fmt::format("syscost baseline\t1\nruns\t1\n{}\np\tS.T\t-\twindow\ttest passed 1\n{}", head, line);
}

const std::string kMeasured = "measured\tcalls errors\n";

std::string file_with_count(const std::string& count) {
  return file_with(kMeasured, "p\tS.T\twrite\tcalls\t" + count + '\n');
}

TEST(ParseBaseline, NamesTheLineThatIsWrong) {
  const std::string head = "syscost baseline\t1\nruns\t1\nmeasured\tcalls errors\n\n";
  const std::string window = "p\tS.T\t-\twindow\ttest passed 1\n";
  for (const auto& [text, fault] : std::vector<std::pair<std::string, std::string>>{
           {"", "the file is empty"},
           {"schema_version,run_id\n", ":1: not a baseline"},
           {"syscost baseline\t2\n", ":1: baseline version 2, but this bench reads version 1: measure again"},
           {head + "p\tS.T\twrite\tcalls\t1\n", ":5: no `window` line"},
           {head + window + "p\tS.T\twrite\tcalls\t-1\n", ":6: \"-1\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\t3..2..4\n", ":6: \"3..2..4\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\tnan\n", ":6: \"nan\" is no count"},
           {head + window + "p\tS.T\twrite\tcalls\n", ":6: 4 fields"},
           {head + window + "p\tS.T\twrite\tcalls\t1\np\tS.T\twrite\tcalls\t1\n", ":7: write calls of this test"},
           {head + window + window, ":6: this test stands twice"},
           {head + window + "p\tS.T\twri", "the file is torn"},
           {head + "p\tS.T\t-\twindow\ttest crashed 1\n", ":5: \"test crashed 1\""},
           {head + "p\tS.T\t-\twindow\ttest passed 0\n", ":5: \"test passed 0\""}}) {
    const Parsed parsed = parsed_from(text);
    EXPECT_FALSE(parsed.baseline.has_value()) << text;
    EXPECT_NE(parsed.said.find(fault), std::string::npos) << text << parsed.said;
  }
}

// A damaged number that is read as another one makes the gate green.
TEST(ParseBaseline, RefusesACountThatBenchDoesNotWrite) {
  const std::vector<std::string> counts = {"99999999999999999999999",
                                           "18446744073709551616",
                                           "18446744073709551615",
                                           "1.8446744073709552e+19",
                                           "1e3",
                                           "-0",
                                           "+1",
                                           "007",
                                           "1.50",
                                           ".5",
                                           "1e-6",
                                           "0x10",
                                           " 1",
                                           "1 ",
                                           "",
                                           "inf",
                                           "1..2",
                                           "1..2..007",
                                           "1..2..3..4",
                                           "1..2..1e+20"};
  for (const std::string& count : counts) {
    const Parsed parsed = parsed_from(file_with_count(count));
    EXPECT_FALSE(parsed.baseline.has_value()) << count;
    EXPECT_EQ(parsed.said.find("it:6: \"" + count + "\" is no count"), 0U) << parsed.said;
    EXPECT_NE(parsed.said.find("`bench baseline update`"), std::string::npos) << parsed.said;
  }
}

// Medians, and counts of one pass of a benchmark, are fractions.
TEST(ParseBaseline, ReadsEachCountThatBenchWrites) {
  for (const double count : {0.0, 1.0, 16.0, 2.5, 1.0 / 3, 1e-6, 123456789.0, 1e15, 1e16, 1.5e19}) {
    model::Baseline written;
    written.runs = 1;
    model::BaselineWindow& window = written.windows.emplace_back();
    window.program = "p";
    window.name = "S.T";
    window.kind = "test";
    window.outcome = "passed";
    window.n = 1;
    window.cells = {{"", "calls", {count, count, count}}, {"write", "calls", {0, count / 2, count + 1}}};
    const std::string text = model::to_text(written);
    const Parsed parsed = parsed_from(text);
    ASSERT_TRUE(parsed.baseline.has_value()) << text << parsed.said;
    EXPECT_EQ(model::to_text(*parsed.baseline), text);
    EXPECT_EQ(parsed.baseline->windows.front().cells.front().range.least, count);
  }
}

TEST(ParseBaseline, RefusesADamagedLineOfTheHead) {
  for (const auto& [line, fault] : std::vector<std::pair<std::string, std::string>>{
           {"departed\tx", "it:3: `departed` holds \"x\": a whole number from 0 to 4294967295 expected; restore"},
           {"departed\t-1", "it:3: `departed` holds \"-1\""},
           {"departed\t", "it:3: `departed` holds \"\""},
           {"departed\t01", "it:3: `departed` holds \"01\""},
           {"departed\t1\t2", "it:3: a line of the head"},
           {"runs\t1", "it:3: `runs` stands twice"},
           {"filter\ta\nfilter\tb", "it:4: `filter` stands twice"},
           {"measured\tcalls errors", "it:4: `measured` stands twice"},
           {"class\twrite", "it:3: a line `class` is"},
           {"class\twrite\t", "it:3: a line `class` is"},
           {"class\twrite\tdesc\nclass\twrite\tvolatile", "it:4: `class write` stands twice"}}) {
    const Parsed parsed = parsed_from(file_with(line + '\n' + kMeasured, ""));
    EXPECT_FALSE(parsed.baseline.has_value()) << line;
    EXPECT_EQ(parsed.said.find(fault), 0U) << parsed.said;
  }
  for (const std::string runs : {"x", "-3", "0", "", "1.5", "03", "4294967296", "99999999999999999999999"}) {
    const Parsed parsed = parsed_from("syscost baseline\t1\nruns\t" + runs + '\n' + kMeasured);
    EXPECT_FALSE(parsed.baseline.has_value()) << runs;
    EXPECT_EQ(parsed.said.find("it:2: `runs` holds \"" + runs + "\": a whole number from 1"), 0U) << parsed.said;
  }
  EXPECT_EQ(parsed_from("syscost baseline\t1\n" + kMeasured).said.find("it: its head has no line `runs`"), 0U);
}

// Without its word, what the runs did measure is not judged: errors, for one.
TEST(ParseBaseline, RefusesALineMeasuredThatBenchDoesNotWrite) {
  for (const std::string words : {"", "-", "errors", "calls error", "errors calls", "calls calls", "calls  errors",
                                  "calls errors ", "calls,errors", "threads"}) {
    const Parsed parsed = parsed_from(file_with("measured\t" + words + '\n', ""));
    EXPECT_FALSE(parsed.baseline.has_value()) << words;
    EXPECT_EQ(parsed.said.find("it:3: `measured` holds \"" + words + "\": calls, errors"), 0U) << parsed.said;
  }
  EXPECT_EQ(parsed_from(file_with("", "")).said.find("it: its head has no line `measured`"), 0U);
  for (const std::string words : {"entries", "entries threads", "calls", "calls errors entries threads opens"}) {
    EXPECT_TRUE(parsed_from(file_with("measured\t" + words + '\n', "")).baseline.has_value()) << words;
  }
}

TEST(ParseBaseline, RefusesAWordThatItWouldNotJudge) {
  for (const auto& [line, fault] : std::vector<std::pair<std::string, std::string>>{
           {"p\tS.T\t-\tdescriptors_lef\t1", "\"descriptors_lef\" is no count of a window that this bench knows"},
           {"p\tS.T\t-\tper_run\t1", "\"per_run\" is no count of a window"},
           {"p\tS.T\twrite\tcals\t1", "\"cals\" is no count of a syscall that this bench knows"},
           {"p\tS.T\twrite\tEAgain\t1", "\"EAgain\" is no count of a syscall"},
           {"p\tS.T\twrite\tper_run nothing\t1", "\"per_run nothing\" is no count of a syscall"},
           {"p\tS.T\twrite\twall_ns\t1", "\"wall_ns\" is no count of a syscall"},
           {"p\tS.U\t-\twindow\ttest passed 007", "\"test passed 007\" is not kind"},
           {"p\tS.U\t-\twindow\ttest passed 4294967296", "\"test passed 4294967296\" is not kind"},
           {"p\tS.U\t-\twindow\ttest passed 1 several_threads", "it has the word several_threads"}}) {
    const Parsed parsed = parsed_from(file_with(kMeasured, line + '\n'));
    EXPECT_FALSE(parsed.baseline.has_value()) << line;
    EXPECT_EQ(parsed.said.find("it:6: " + fault), 0U) << parsed.said;
  }
  for (const std::string word :
       {"EAGAIN", "E2BIG", "EPROBE_DEFER", "errno_600", "per_run ENOENT", "per_run errno_600"}) {
    EXPECT_TRUE(parsed_from(file_with(kMeasured, "p\tS.T\twrite\t" + word + "\t1\n")).baseline.has_value()) << word;
  }
}

/// As git's autocrlf writes it, or an editor of Windows.
std::string with_returns(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  return text;
}

TEST(ParseBaseline, ReadsWhatAnotherProgramAddedWhenItSavedTheFile) {
  const std::string text = file_with_count("16");
  const Parsed plain = parsed_from(text);
  ASSERT_TRUE(plain.baseline.has_value()) << plain.said;
  for (const std::string& saved : {with_returns(text), "\xEF\xBB\xBF" + text, "\xEF\xBB\xBF" + with_returns(text)}) {
    const Parsed parsed = parsed_from(saved);
    ASSERT_TRUE(parsed.baseline.has_value()) << parsed.said;
    EXPECT_EQ(model::to_text(*parsed.baseline), model::to_text(*plain.baseline));
  }
}

// Else the diff of one test is that of the whole file.
TEST(EditedBaseline, KeepsWhatAnotherProgramAddedWhenItSavedTheFile) {
  const std::string text = file_with_count("16");
  const model::Baseline baseline = *parsed_from(text).baseline;
  const model::BaselineTold told = model::told_by(baseline.windows);
  model::BaselineWindow window = baseline.windows.front();
  window.cells.front().range = {17, 17, 17};
  const std::string wanted = file_with_count("17");
  EXPECT_EQ(model::edited(text, told, {{window}}, {}), wanted);
  EXPECT_EQ(model::edited(with_returns(text), told, {{window}}, {}), with_returns(wanted));
  EXPECT_EQ(model::edited("\xEF\xBB\xBF" + text, told, {{window}}, {}), "\xEF\xBB\xBF" + wanted);
}

TEST(ParseBaseline, SaysOnceThatAMergeLeftAConflict) {
  const std::string one = "p\tS.T\twrite\tcalls\t1\n";
  const std::string other = "p\tS.T\twrite\tcalls\t2\n";
  const std::string in_counts = file_with(kMeasured, "<<<<<<< HEAD\n" + one + "=======\n" + other + ">>>>>>> topic\n");
  const std::string in_head = file_with("<<<<<<< HEAD\n" + kMeasured + "=======\n>>>>>>> topic\n", one);
  for (const auto& [text, line] :
       std::vector<std::pair<std::string, int>>{{in_counts, 6},
                                                {with_returns(in_counts), 6},
                                                {in_head, 3},
                                                {file_with(kMeasured, "=======\n"), 6},
                                                {file_with(kMeasured, "||||||| base\n"), 6},
                                                {"<<<<<<< HEAD\n" + file_with(kMeasured, one), 1}}) {
    const Parsed parsed = parsed_from(text);
    EXPECT_FALSE(parsed.baseline.has_value());
    EXPECT_EQ(parsed.said, fmt::format("it:{}: a merge conflict: resolve it, or write the baseline again with `bench "
                                       "baseline update`\n",
                                       line));
  }
}

}  // namespace
}  // namespace syscost::bench
