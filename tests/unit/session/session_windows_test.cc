// SPDX-License-Identifier: MIT
//
// The results of a window: its report and its rows.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>

#include "os/message_output.h"
#include "session/session_fixture.h"

namespace syscost::session {
namespace {

TEST_F(SessionTest, WritesAWindowsRowsWhenItCloses) {
  open("Suite.Test", 3);
  fake_.call();
  fake_.call();
  adapter::Report report = session().windows().close("passed", 0);
  EXPECT_EQ(report.cost.calls("read"), 2);
  EXPECT_EQ(report.line.substr(0, 6), "2 read");
  EXPECT_EQ(keys(), (Keys{"test|Suite.Test|||3|test|passed|2||", "test|Suite.Test|||3|syscall|||2|"}));
}

TEST_F(SessionTest, SaysOnceWhatTheRunFoundAroundIt) {
  session();
  EXPECT_EQ(read_file(options_.csv).find(",run,"), std::string::npos) << "a program without tests leaves no row";
  for (const char* test : {"A", "B"}) {
    open(test);
    session().windows().close("passed", 0);
  }
  const std::string text = read_file(options_.csv);
  const std::size_t row = text.find(",run,,,,0,run,");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_LT(row, text.find(",test,A,")) << "it comes first";
  EXPECT_NE(text.find("cpus=", row), std::string::npos);
  EXPECT_EQ(text.rfind(",run,,,,0,run,"), row) << "once";
}

TEST_F(SessionTest, LetsRowsWaitForAnOutcomeThatMayChange) {
  open("A");
  fake_.call();
  session().windows().close("passed", 0, Outcome::may_change);
  EXPECT_EQ(keys(), Keys{});
  session().windows().settle_outcome("skipped");
  const Keys of_a = {"test|A|||0|test|skipped|1||", "test|A|||0|syscall|||1|"};
  EXPECT_EQ(keys(), of_a);
  session().windows().settle_outcome("failed");
  EXPECT_EQ(keys(), of_a) << "none waits";
}

TEST_F(SessionTest, WritesRowsThatWaitAtTheEndOfTheProcess) {
  open("A");
  session().windows().close("passed", 0, Outcome::may_change);
  session().conclude();
  EXPECT_EQ(keys(), Keys{"test|A|||0|test|passed|0||"});
}

TEST_F(SessionTest, SaysThatTestsBeganAndThatTheyEnded) {
  session().begin_tests("A");
  const std::string begun = read_file(options_.csv);
  EXPECT_NE(begun.find(",run,A,begin,,0,run,"), std::string::npos) << begun;
  session().begin_tests("A");
  EXPECT_EQ(read_file(options_.csv), begun) << "once";
  open("A");
  session().windows().close("passed", 0);
  session().finish_tests("failed");
  const std::string text = read_file(options_.csv);
  const std::size_t end = text.find(",run,,end,,0,run,,,syscost,failed,");
  ASSERT_NE(end, std::string::npos) << text;
  EXPECT_GT(end, text.find(",test,A,"));
  EXPECT_EQ(text.find(",run,,,,0,run,"), std::string::npos) << "the run has said what it found";
  session().finish_tests("failed");
  EXPECT_EQ(read_file(options_.csv), text) << "once";
}

/// Another process that can read the CSV, and locks it.
class Stranger {
 public:
  explicit Stranger(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) { flock(fd_, LOCK_EX); }
  ~Stranger() { leave(); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  void leave() { close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

TEST_F(SessionTest, KeepsTheRowsForAFileThatAStrangerHasLocked) {
  open("A");
  Stranger stranger(options_.csv);
  ::testing::internal::CaptureStderr();
  note_message_output();
  session().windows().close("passed", 0);
  open("B");
  session().windows().close("passed", 0);
  const std::string said = ::testing::internal::GetCapturedStderr();
  note_message_output();
  EXPECT_NE(said.find("holds the lock of the CSV file " + options_.csv), std::string::npos) << said;
  EXPECT_EQ(said.find("the rows wait"), said.rfind("the rows wait")) << "once: " << said;
  EXPECT_EQ(keys(), Keys{});
  EXPECT_EQ(session().problem(), "");
  stranger.leave();
  open("C");
  session().windows().close("passed", 0);
  EXPECT_EQ(keys(), (Keys{"test|A|||0|test|passed|0||", "test|B|||0|test|passed|0||", "test|C|||0|test|passed|0||"}));
  session().conclude();
  EXPECT_EQ(session().problem(), "");
}

// The window's two, and the run's own.
TEST_F(SessionTest, SaysHowManyRowsAStrangerCost) {
  open("A");
  fake_.call();
  const Stranger stranger(options_.csv);
  ::testing::internal::CaptureStderr();
  session().windows().close("passed", 0);
  session().conclude();
  ::testing::internal::GetCapturedStderr();
  EXPECT_NE(session().problem().find("3 rows are missing from the CSV file " + options_.csv), std::string::npos)
      << session().problem();
}

TEST_F(SessionTest, ChargesNothingBetweenWindows) {
  open("A");
  session().windows().close("passed", 0);
  fake_.call();
  open("B");
  adapter::Report report = session().windows().close("passed", 0);
  EXPECT_EQ(report.cost.calls(), 0);
  EXPECT_EQ(report.line, "no syscalls");
}

TEST_F(SessionTest, WritesNoRowForASuiteWithoutSyscalls) {
  adapter::WindowName name;
  name.kind = adapter::Kind::suite;
  name.test = "Suite";
  name.window = "set-up";
  session().windows().open(name);
  session().windows().close("", 0);
  session().windows().open(name);
  fake_.call();
  session().windows().close("", 0);
  EXPECT_EQ(keys(), (Keys{"suite|Suite|set-up||0|test||1||", "suite|Suite|set-up||0|syscall|||1|"}));
}

TEST_F(SessionTest, CountsOnlyWhatTheFilterSelects) {
  options_.filter = Filter::parse("write").value();
  open("Suite.Test");
  fake_.call();  // a read
  adapter::Report report = session().windows().close("passed", 0);
  EXPECT_EQ(report.line, "no syscalls (only write counted)");
  EXPECT_EQ(report.counted, "write");
  EXPECT_EQ(report.cost.calls(report.counted), 0);
  EXPECT_FALSE(report.cost.calls("read").has_value()) << "it was not measured, so it is not 0";
  EXPECT_FALSE(report.cost.calls().has_value());
  using schema::Column;
  EXPECT_EQ(rows({Column::kFilter, Column::kRecord, Column::kTotalCalls}), (Keys{"write|test|0|"}));
}

TEST_F(SessionTest, AppliesTheFilterToTheBackendThatReplacesOne) {
  options_.filter = Filter::parse("write").value();
  open("A");
  is_gone_ = true;
  session().windows().close("passed", 0);
  fake_.select(nullptr);  // a fresh backend has no filter
  is_gone_ = true;
  open("B");
  session().windows().close("passed", 0);  // opens another one, with the filter
  open("C");
  fake_.call();
  EXPECT_EQ(session().windows().close("passed", 0).line, "no syscalls (only write counted)");
}

TEST(Session, OpensTheBackendForTheOptionsThatItTookOver) {
  Options seen;
  Session session({}, [&](const Options& options) -> Result<std::unique_ptr<Backend>> {
    seen = options;
    return Failure{"no backend here", "get one"};
  });
  Options later;
  later.filter = Filter::parse("write").value();
  later.children = true;
  ASSERT_TRUE(session.take_over(later).ok());
  static_cast<void>(session.start({}));
  ASSERT_NE(seen.filter, nullptr);
  EXPECT_EQ(seen.filter->text(), "write");
  EXPECT_TRUE(seen.children);
}

TEST_F(SessionTest, CountsEverythingWithoutAFilter) {
  open("Suite.Test");
  fake_.call();
  EXPECT_EQ(session().windows().close("passed", 0).counted, "*");
  EXPECT_EQ(rows({schema::Column::kFilter}), (Keys{"|", "|"}));
}

TEST_F(SessionTest, EstimatesWhatMeasuringAdded) {
  open("A");
  fake_.call();
  fake_.call();
  session().windows().close("passed", 0);
  EXPECT_EQ(rows({schema::Column::kOverheadEstimateNs}).front(), "200|");
}

TEST_F(SessionTest, VoidsAWindowIfItsBackendWasTakenAwayAndGoesOnWithANewOne) {
  open("A");
  fake_.call();
  is_gone_ = true;
  adapter::Report report = session().windows().close("passed", 0);
  EXPECT_FALSE(report.cost.available());
  EXPECT_NE(session().problem().find("test A"), std::string::npos) << session().problem();
  open("B");
  fake_.call();
  EXPECT_EQ(session().windows().close("passed", 0).cost.calls(), 1);
  EXPECT_EQ(keys(), (Keys{"test|A|||0|test|passed|||", "test|B|||0|test|passed|1||", "test|B|||0|syscall|||1|"}));
}

TEST_F(SessionTest, TheInstrumentThatWasTakenAwayRetiresBeforeAnotherIsOpened) {
  std::string order;
  watcher_ = [&](const char* what) { order += std::string(what) + ", "; };
  open("A");
  is_gone_ = true;
  order.clear();
  session().windows().close("passed", 0);
  EXPECT_EQ(order.substr(0, order.find("ours opens")), "ours closes, ours retires, ours begins, ");
}

TEST_F(SessionTest, RemembersRowsItCouldNotWriteAndGoesOn) {
  options_.csv = "/dev/full";
  for (const char* test : {"A", "B", "C"}) {
    open(test);
    fake_.call();
    EXPECT_EQ(session().windows().close("passed", 0).cost.calls(), 1);
  }
  const std::string problem = session().problem();
  EXPECT_NE(problem.find("/dev/full"), std::string::npos) << problem;
  EXPECT_NE(problem.find("test A"), std::string::npos) << problem;
  EXPECT_NE(problem.find("2 more windows"), std::string::npos) << problem;
}

TEST_F(SessionTest, PutsTheAnswerOfCyclesIntoTheRow) {
  options_.cycles = 50;
  open("A");
  EXPECT_EQ(session().windows().cycles(10), 50);
  session().windows().close("passed", 0);
  open("B");
  session().windows().close("passed", 0);
  EXPECT_EQ(rows({schema::Column::kIterations}), (Keys{"50|", "|"}));
}

TEST_F(SessionTest, AnswersTheFallbackWithoutACyclesFlag) {
  EXPECT_EQ(session().windows().cycles(10), 10);
}

}  // namespace
}  // namespace syscost::session
