// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "core/fake_backend.h"
#include "csv/temporary_folder.h"
#include "syscost/schema.h"

namespace syscost::session {
namespace {

using ::syscost::testing::FakeBackend;
using ::syscost::testing::read_file;
using ::syscost::testing::TemporaryFolder;

/// A FakeBackend that outlives the session and can be taken away as a test that closes all descriptors does.
class FrailBackend final : public Backend {
 public:
  explicit FrailBackend(FakeBackend& fake, const bool& is_gone) : fake_(fake), is_gone_(is_gone) {}
  std::string_view name() const override { return fake_.name(); }
  Capabilities capabilities() const override { return fake_.capabilities(); }
  Calibration calibration() const override { return {.armed_ns_per_call = 100, .measured = true}; }
  Result<void> select(const Filter& filter) override { return fake_.select(filter); }
  Result<Lane> acquire_lane() override { return fake_.acquire_lane(); }
  Generation boundary(Lane lane, Next next) override { return fake_.boundary(lane, next); }
  void read(Lane lane, CallTable& into) override { fake_.read(lane, into); }
  void read_crossings(CrossingSink& sink) override { fake_.read_crossings(sink); }
  Losses losses() const override { return fake_.losses(); }
  Result<Losses> losses_between_windows() override {
    if (is_gone_) return Failure{"the fake was taken away", "give it back"};
    return fake_.losses_between_windows();
  }
  Result<void> detach() override { return {}; }
  Result<void> attach() override { return {}; }

 private:
  FakeBackend& fake_;
  const bool& is_gone_;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.csv = folder_.file("out.csv");
    options_.run_id = "run";
    options_.commit = "none";
  }

  Session& session() {
    if (session_ == nullptr) {
      session_ = std::make_unique<Session>(options_, [this](BackendChoice) -> Result<std::unique_ptr<Backend>> {
        if (!opens_) return Failure{"no backend here", "get one"};
        is_gone_ = false;
        return std::unique_ptr<Backend>(std::make_unique<FrailBackend>(fake_, is_gone_));
      });
      adapter::Framework framework;
      framework.name = "unit";
      started_ = session_->start(framework);
    }
    return *session_;
  }

  void open(std::string_view test, int repetition = 0) {
    adapter::WindowName name;
    name.test = test;
    name.repetition = repetition;
    session().open_window(name);
  }

  /// The chosen columns of each row, joined by '|', header left out. The rows of these tests hold no quotes.
  std::vector<std::string> rows(std::initializer_list<schema::Column> columns) const {
    std::vector<std::string> all;
    std::istringstream lines(read_file(options_.csv));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::vector<std::string> cells;
      std::istringstream fields(line + ",");
      for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
      std::string& row = all.emplace_back();
      for (schema::Column column : columns) row += cells.at(static_cast<std::size_t>(column)) + "|";
    }
    return all;
  }
  std::vector<std::string> keys() const {
    using schema::Column;
    return rows({Column::kKind, Column::kTest, Column::kWindow, Column::kParent, Column::kRepetition, Column::kRecord,
                 Column::kOutcome, Column::kTotalCalls, Column::kCalls});
  }

  using Keys = std::vector<std::string>;

  TemporaryFolder folder_;
  Options options_;
  FakeBackend fake_;
  bool opens_ = true;
  bool is_gone_ = false;
  Result<void> started_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, WritesAWindowsRowsWhenItCloses) {
  open("Suite.Test", 3);
  fake_.call();
  fake_.call();
  adapter::Report report = session().close_window("passed", 0);
  EXPECT_EQ(report.cost.calls("read"), 2);
  EXPECT_EQ(report.line.substr(0, 6), "2 read");
  EXPECT_EQ(keys(), (Keys{"test|Suite.Test|||3|test|passed|2||", "test|Suite.Test|||3|syscall|||2|"}));
}

TEST_F(SessionTest, ChargesNothingBetweenWindows) {
  open("A");
  session().close_window("passed", 0);
  fake_.call();
  open("B");
  adapter::Report report = session().close_window("passed", 0);
  EXPECT_EQ(report.cost.calls(), 0);
  EXPECT_EQ(report.line, "no syscalls");
}

TEST_F(SessionTest, WritesNoRowForASuiteWithoutSyscalls) {
  adapter::WindowName name;
  name.kind = adapter::Kind::suite;
  name.test = "Suite";
  name.window = "set-up";
  session().open_window(name);
  session().close_window("", 0);
  session().open_window(name);
  fake_.call();
  session().close_window("", 0);
  EXPECT_EQ(keys(), (Keys{"suite|Suite|set-up||0|test||1||", "suite|Suite|set-up||0|syscall|||1|"}));
}

TEST_F(SessionTest, CountsOnlyWhatTheFilterSelects) {
  options_.filter = Filter::parse("write").value();
  open("Suite.Test");
  fake_.call();  // a read
  adapter::Report report = session().close_window("passed", 0);
  EXPECT_EQ(report.line, "no syscalls (only write counted)");
  EXPECT_EQ(report.counted, "write");
  EXPECT_EQ(report.cost.calls(report.counted), 0);
  EXPECT_FALSE(report.cost.calls("read").has_value()) << "nobody measured it: not 0";
  EXPECT_FALSE(report.cost.calls().has_value());
  using schema::Column;
  EXPECT_EQ(rows({Column::kFilter, Column::kRecord, Column::kTotalCalls}), (Keys{"write|test|0|"}));
}

TEST_F(SessionTest, CountsScopesUnderTheFilterToo) {
  options_.filter = Filter::parse("/^re/").value();
  open("Suite.Test");
  Cost cost(Unavailable{"", ""});
  ScopeRecord* scope = session().open_scope("part", Reach::process, cost);
  fake_.call();
  cost = session().close_scope(scope);
  EXPECT_EQ(cost.calls("read"), 1);
  EXPECT_FALSE(cost.calls("write").has_value());
  session().close_window("passed", 0);
}

TEST_F(SessionTest, AppliesTheFilterToTheInstrumentThatReplacesOne) {
  options_.filter = Filter::parse("write").value();
  open("A");
  is_gone_ = true;
  session().close_window("passed", 0);
  ASSERT_TRUE(fake_.select(*Filter::parse("*").value()).ok());  // forgets, as a fresh backend would
  is_gone_ = true;
  open("B");
  session().close_window("passed", 0);  // opens another one, which is told
  open("C");
  fake_.call();
  EXPECT_EQ(session().close_window("passed", 0).line, "no syscalls (only write counted)");
}

TEST_F(SessionTest, CountsEverythingWithoutAFilter) {
  open("Suite.Test");
  fake_.call();
  EXPECT_EQ(session().close_window("passed", 0).counted, "*");
  EXPECT_EQ(rows({schema::Column::kFilter}), (Keys{"|", "|"}));
}

TEST_F(SessionTest, EstimatesWhatMeasuringAdded) {
  open("A");
  fake_.call();
  fake_.call();
  session().close_window("passed", 0);
  EXPECT_EQ(rows({schema::Column::kOverheadEstimateNs}).front(), "200|");
}

TEST_F(SessionTest, RefusesToStartWhenWhatWasAskedForCannotBeHad) {
  opens_ = false;
  session();
  ASSERT_FALSE(started_.ok());
  EXPECT_EQ(started_.failure().reason, "no backend here");
}

TEST_F(SessionTest, RefusesToStartWithoutItsFile) {
  options_.csv = folder_.file("missing/out.csv");
  session();
  EXPECT_FALSE(started_.ok());
}

TEST_F(SessionTest, StartsWithoutABackendWhenNothingWasAskedFor) {
  options_ = Options();
  opens_ = false;
  session();
  ASSERT_TRUE(started_.ok());
  Cost cost(Unavailable{});
  EXPECT_EQ(session().open_scope("s", Reach::thread, cost), nullptr);
  ASSERT_FALSE(cost.available());
  EXPECT_EQ(cost.unavailable()->reason, "no backend here");
}

TEST_F(SessionTest, WritesTimesOnlyWithBackendNone) {
  options_.backend = BackendChoice::none;
  options_.is_backend_named = true;
  open("A");
  adapter::Report report = session().close_window("passed", 0);
  EXPECT_FALSE(report.cost.available());
  EXPECT_EQ(keys(), (Keys{"test|A|||0|test|passed|||"}));
  EXPECT_NE(rows({schema::Column::kWallNs}).front(), "|");
  EXPECT_EQ(rows({schema::Column::kBackend}).front(), "none|");
}

TEST_F(SessionTest, WritesNamedScopesWithTheirTest) {
  open("A");
  Cost cost(Unavailable{});
  for (int i = 0; i < 2; ++i) {
    ScopeRecord* outer = session().open_scope("outer", Reach::process, cost);
    ScopeRecord* inner = session().open_scope("inner", Reach::process, cost);
    fake_.call();
    EXPECT_EQ(session().close_scope(inner).calls(), 1);
    fake_.call();
    EXPECT_EQ(session().close_scope(outer).calls(), 2);
  }
  EXPECT_EQ(keys(), Keys{}) << "a test is open";
  EXPECT_EQ(session().close_window("passed", 0).cost.calls(), 4);
  EXPECT_EQ(keys(), (Keys{"test|A|||0|test|passed|4||", "test|A|||0|syscall|||4|",  //
                          "scope|A|inner|outer|0|test||1||", "scope|A|inner|outer|0|syscall|||1|",
                          "scope|A|outer||0|test||2||", "scope|A|outer||0|syscall|||2|",
                          "scope|A|inner|outer|1|test||1||", "scope|A|inner|outer|1|syscall|||1|",
                          "scope|A|outer||1|test||2||", "scope|A|outer||1|syscall|||2|"}));
}

TEST_F(SessionTest, WritesScopesOutsideTestsOnceNoneIsOpen) {
  Cost cost(Unavailable{});
  ScopeRecord* outer = session().open_scope("outer", Reach::process, cost);
  session().close_scope(session().open_scope("inner", Reach::process, cost));
  EXPECT_EQ(keys(), Keys{});
  session().close_scope(outer);
  EXPECT_EQ(keys(), (Keys{"scope||inner|outer|0|test||0||", "scope||outer||0|test||0||"}));
}

TEST_F(SessionTest, WritesNoRowForAScopeWithoutAName) {
  Cost cost(Unavailable{});
  session().close_scope(session().open_scope("", Reach::process, cost));
  EXPECT_EQ(keys(), Keys{});
}

TEST_F(SessionTest, VoidsAWindowWhoseInstrumentWasTakenAwayAndGoesOnWithANewOne) {
  open("A");
  fake_.call();
  is_gone_ = true;
  adapter::Report report = session().close_window("passed", 0);
  EXPECT_FALSE(report.cost.available());
  EXPECT_NE(session().problem().find("test A"), std::string::npos) << session().problem();
  open("B");
  fake_.call();
  EXPECT_EQ(session().close_window("passed", 0).cost.calls(), 1);
  EXPECT_EQ(keys(), (Keys{"test|A|||0|test|passed|||", "test|B|||0|test|passed|1||", "test|B|||0|syscall|||1|"}));
}

TEST_F(SessionTest, VoidsAScopeWhoseInstrumentWasTakenAway) {
  Cost cost(Unavailable{});
  ScopeRecord* scope = session().open_scope("s", Reach::process, cost);
  is_gone_ = true;
  EXPECT_FALSE(session().close_scope(scope).available());
  EXPECT_NE(session().problem(), "");
}

TEST_F(SessionTest, RemembersRowsItCouldNotWriteAndGoesOn) {
  options_.csv = "/dev/full";
  for (const char* test : {"A", "B", "C"}) {
    open(test);
    fake_.call();
    EXPECT_EQ(session().close_window("passed", 0).cost.calls(), 1);
  }
  const std::string problem = session().problem();
  EXPECT_NE(problem.find("/dev/full"), std::string::npos) << problem;
  EXPECT_NE(problem.find("test A"), std::string::npos) << problem;
  EXPECT_NE(problem.find("2 more windows"), std::string::npos) << problem;
}

TEST_F(SessionTest, PutsTheAnswerOfCyclesIntoTheRow) {
  options_.cycles = 50;
  open("A");
  EXPECT_EQ(session().cycles(10), 50);
  session().close_window("passed", 0);
  open("B");
  session().close_window("passed", 0);
  EXPECT_EQ(rows({schema::Column::kIterations}), (Keys{"50|", "|"}));
}

TEST_F(SessionTest, AnswersTheFallbackWithoutACyclesFlag) {
  EXPECT_EQ(session().cycles(10), 10);
}

TEST_F(SessionTest, IsInertInAForkChild) {
  open("A");
  Cost cost(Unavailable{});
  ScopeRecord* scope = session().open_scope("s", Reach::process, cost);
  const pid_t child = fork();
  if (child == 0) {
    fake_.call();
    const bool scope_is_inert = !session().close_scope(scope).available();
    const bool window_is_inert = !session().close_window("passed", 0).cost.available();
    open("B");
    session().finish();
    _exit(session().is_fork_child() && scope_is_inert && window_is_inert ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(keys(), Keys{});
  EXPECT_FALSE(session().is_fork_child());
  EXPECT_EQ(session().close_scope(scope).calls(), 0);
  session().close_window("passed", 0);
  EXPECT_EQ(keys().size(), 2U);
}

TEST_F(SessionTest, CountsScopesOfSeveralThreadsAtOnce) {
  open("A");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 100; ++round) {
        Cost cost(Unavailable{});
        session().close_scope(session().open_scope("s", Reach::process, cost));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  session().close_window("passed", 0);
  EXPECT_EQ(keys().size(), 801U);
  EXPECT_EQ(rows({schema::Column::kRepetition}).back(), "799|");
}

}  // namespace
}  // namespace syscost::session
