// SPDX-License-Identifier: MIT
//
// The state file of a sweep of failures: what comes back from it, and what is refused.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "commands/faults/faults.h"
#include "faults/state_file.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;

class FaultState : public ::testing::Test {
 protected:
  FaultState() {
    std::string name = ::testing::TempDir() + "faults.XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "sweep.jsonl";
  }
  ~FaultState() override { fs::remove_all(folder_); }

  fs::path folder_;
  fs::path path_;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

LearnedTest saving_test() {
  LearnedTest test;
  test.name = "Store.Saves";
  test.is_steady = true;
  test.places = {{"write", "desc", "store.cc:7 save", {1, 2, 4}, 3}, {"fsync", "desc", "store.cc:11 save", {1}, 1}};
  return test;
}

const SweepIdentity kIdentity = {{"/bin/tests", "--fast"}, "7 bytes", "calls="};

Done crash() {
  Done done{{0, "write", 3, "EIO", "store.cc:9 save"}, {}};
  done.failure.part = Part::body;
  done.result = {Outcome::crashed, "SIGSEGV", "SIGBUS", "store.cc:9 save", 12, 1, "a \x1b[31m\xff text\n"};
  return done;
}

TEST_F(FaultState, LeavesAFileThatReplacedAnEmptyOne) {
  {
    SweepState empty;
    StateFile file;
    ASSERT_EQ(file.open(path_, empty), "");
    std::filesystem::rename(path_, folder_ / "moved");
    std::ofstream(path_) << "of someone else";
  }
  EXPECT_TRUE(std::filesystem::exists(path_));
  std::filesystem::remove(folder_ / "moved");
}

TEST_F(FaultState, ComesBackWithoutTheLineThatWasCut) {
  {
    SweepState empty;
    StateFile file;
    ASSERT_EQ(file.open(path_, empty), "");
    file.begin(kIdentity);
    ASSERT_EQ(file.add(saving_test()), "");
    ASSERT_EQ(file.end_learning(Framework::catch2), "");
    ASSERT_EQ(file.add(PlanSize{5, 2, 3, {{"getpid", 1}}}), "");
    ASSERT_EQ(file.add(4, crash()), "");
    ASSERT_EQ(file.add_harm({"made: data/x/"}), "");
    ASSERT_EQ(file.add_changed_always({"changed: a.gcda"}), "");
  }
  std::ofstream(path_, std::ios::app) << R"({"failure":5,"test":0,"sys)";
  SweepState state;
  {
    StateFile file;
    ASSERT_EQ(file.open(path_, state), "");
    EXPECT_EQ(file.add(6, crash()), "");
  }
  EXPECT_EQ(state.identity, kIdentity);
  EXPECT_TRUE(state.has_learned);
  EXPECT_EQ(state.framework, Framework::catch2);
  ASSERT_EQ(state.tests.size(), 1U);
  EXPECT_EQ(state.tests[0].places.size(), 2U);
  EXPECT_EQ(state.plan, (PlanSize{5, 2, 3, {{"getpid", 1}}}));
  ASSERT_EQ(state.done.size(), 1U);
  EXPECT_EQ(state.done.at(4).failure, crash().failure);
  EXPECT_EQ(state.done.at(4).result.detail, "SIGSEGV");
  EXPECT_EQ(state.done.at(4).result.child, "SIGBUS");
  EXPECT_EQ(state.harm, std::vector<std::string>{"made: data/x/"});
  EXPECT_EQ(state.changed_always, std::vector<std::string>{"changed: a.gcda"});
  SweepState again;
  EXPECT_EQ(load_state(path_, again), "");
  EXPECT_EQ(again.done.size(), 2U) << "the cut line is gone";
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FaultState, RefusesOtherFilesAndASecondWriter) {
  SweepState state;
  StateFile first;
  ASSERT_EQ(first.open(path_, state), "");
  StateFile second;
  EXPECT_NE(second.open(path_, state).find("another sweep writes to it"), std::string::npos);
  const fs::path other = folder_ / "rows.csv";
  std::ofstream(other) << "schema_version,run_id\n";
  StateFile third;
  EXPECT_NE(third.open(other, state).find("line 1 is no line of a sweep"), std::string::npos);
  EXPECT_EQ(text_of(other), "schema_version,run_id\n");
  fs::create_symlink(path_, folder_ / "link");
  StateFile fourth;
  EXPECT_NE(fourth.open(folder_ / "link", state), "");
}

TEST_F(FaultState, KeepsAFileOfOneLineThatIsNotItsOwn) {
  for (const std::string text : {"my notes", "{\"version\":1}"}) {
    std::ofstream(path_) << text;
    SweepState state;
    StateFile file;
    EXPECT_NE(file.open(path_, state).find("line 1 is no line of a sweep"), std::string::npos);
    EXPECT_EQ(text_of(path_), text);
  }
}

TEST_F(FaultState, BeginsAnewIfItsFirstLineWasCut) {
  std::ofstream(path_) << R"({"syscost_faul)";
  ::chmod(path_.c_str(), 0600);
  SweepState state;
  StateFile file;
  EXPECT_EQ(file.open(path_, state), "");
  file.begin(kIdentity);
  EXPECT_EQ(file.add(saving_test()), "");
  SweepState again;
  EXPECT_EQ(load_state(path_, again), "");
  EXPECT_EQ(again.identity, kIdentity);
}

TEST_F(FaultState, StaysAsItWasUntilSomethingIsAdded) {
  SweepState state;
  {
    StateFile file;
    ASSERT_EQ(file.open(path_, state), "");
    file.begin(kIdentity);
  }
  EXPECT_FALSE(fs::exists(path_)) << "a refused command leaves no file, or the right one would be of another sweep";
  {
    StateFile file;
    ASSERT_EQ(file.open(path_, state), "");
    file.begin(kIdentity);
    ASSERT_EQ(file.add(saving_test()), "");
  }
  std::ofstream(path_, std::ios::app) << R"({"learned":)";
  const std::string before = text_of(path_);
  {
    StateFile file;
    ASSERT_EQ(file.open(path_, state), "");
    EXPECT_EQ(state.identity, kIdentity);
  }
  EXPECT_EQ(text_of(path_), before);
  std::ofstream(folder_ / "empty").flush();
  {
    StateFile file;
    SweepState none;
    ASSERT_EQ(file.open(folder_ / "empty", none), "");
  }
  EXPECT_TRUE(fs::exists(folder_ / "empty")) << "it was there before";
  StateFile nowhere;
  EXPECT_NE(nowhere.open(folder_ / "none" / "sweep.jsonl", state).find("No such file"), std::string::npos);
}

TEST_F(FaultState, RefusesFilesThatOtherUsersMayChange) {
  SweepState state;
  std::ofstream(path_).flush();
  for (const mode_t mode : {0620, 0602}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    StateFile file;
    EXPECT_NE(file.open(path_, state).find("chmod go-w"), std::string::npos) << mode;
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  {
    StateFile file;
    EXPECT_EQ(file.open(path_, state), "");
  }
  constexpr uid_t kOther = 65534;
  if (::geteuid() != 0 || ::chown(path_.c_str(), kOther, static_cast<gid_t>(-1)) != 0) return;
  StateFile file;
  EXPECT_NE(file.open(path_, state).find("belongs to another user"), std::string::npos);
}

TEST_F(FaultState, ReadsNoPipeAndNoFileWithoutAnEnd) {
  SweepState state;
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(load_state(path_, state), path_.string() + ": it is no regular file");
  fs::remove(path_);
  fs::create_symlink("/dev/zero", path_);
  EXPECT_EQ(load_state(path_, state), path_.string() + ": it is no regular file");
  fs::remove(path_);
  std::ofstream(path_) << "x";
  fs::resize_file(path_, std::uintmax_t{1} << 33);  // a hole
  EXPECT_EQ(load_state(path_, state), path_.string() + ": File too large");
}

// The fault that reading a state file finds, of which one name is not as bench writes it.
std::string fault_with(const Done& done, const PlanSize& plan, const LearnedTest& test, const fs::path& path) {
  {
    SweepState empty;
    StateFile file;
    EXPECT_EQ(file.open(path, empty), "");
    file.begin(kIdentity);
    EXPECT_EQ(file.add(test), "");
    EXPECT_EQ(file.add(plan), "");
    EXPECT_EQ(file.add(0, done), "");
  }
  SweepState state;
  std::string fault = load_state(path, state);
  fs::remove(path);
  return fault;
}

TEST_F(FaultState, RefusesNamesThatAreNone) {
  const PlanSize plan{1, 0, 0, {{"i386:getpid", 1}, {"syscall_1000", 1}}};
  EXPECT_EQ(fault_with(crash(), plan, saving_test(), path_), "");
  for (const std::string name : {"", "a b", "write:error=EIO;fsync", "\x1b[31m", "a\n::error::x"}) {
    Done done = crash();
    done.failure.syscall = name;
    EXPECT_NE(fault_with(done, plan, saving_test(), path_), "") << name;
    EXPECT_NE(fault_with(crash(), PlanSize{1, 0, 0, {{name, 1}}}, saving_test(), path_), "") << name;
    LearnedTest test = saving_test();
    test.places[1].syscall = name;
    EXPECT_NE(fault_with(crash(), plan, test, path_), "") << name;
  }
  Done lasting = crash();
  lasting.failure.error = "EIO+";
  EXPECT_EQ(fault_with(lasting, plan, saving_test(), path_), "");
  for (const std::string name : {"", "+", "EIO; touch x", "\x1b[31m"}) {
    Done done = crash();
    done.failure.error = name;
    EXPECT_NE(fault_with(done, plan, saving_test(), path_), "") << name;
  }
  LearnedTest without_calls = saving_test();
  without_calls.places[0].nths.clear();
  EXPECT_NE(fault_with(crash(), plan, without_calls, path_), "") << "it would sweep nothing, and be green";
}

TEST(FaultReport, QuotesEachWordOfTheCommandToCopy) {
  SweepState state;
  state.identity = kIdentity;
  state.tests = {saving_test()};
  Done done = crash();
  EXPECT_EQ(commands::again(state, done),
            "SYSCOST_INJECT=write:error=EIO:nth=3 bench run --backend dispatch -- /bin/tests --fast "
            "--gtest_filter=Store.Saves");
  done.failure.error = "EIO; true";
  EXPECT_EQ(commands::again(state, done).rfind("SYSCOST_INJECT='write:error=EIO; true:nth=3' ", 0), 0U);
}

}  // namespace
}  // namespace syscost::bench::faults
