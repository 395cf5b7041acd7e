// SPDX-License-Identifier: MIT
//
// The perf profiler with the real perf.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>

#include "traced.h"

namespace syscost::profilers {
namespace {

class Perf : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Profiler>> made = make_perf({});
    if (!made.ok()) GTEST_SKIP() << text_of(made.failure());
    profiler_ = std::move(made.value());
    if (geteuid() != 0) GTEST_SKIP() << "perf is let in by every kernel for root only: run as root";
  }
  std::unique_ptr<Profiler> profiler_;
};

/// Works until this thread has used that much CPU, however loaded the machine is.
void use_cpu_ms(int ms) {
  timespec now{};
  const clock_t end = clock() + static_cast<clock_t>(ms) * (CLOCKS_PER_SEC / 1000);
  while (clock() < end) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}

TEST_F(Perf, ChecksItselfWithKnownPageFaults) {
  const Result<void> checked = profiler_->check();
  EXPECT_TRUE(checked.ok()) << text_of(checked.failure());
}

TEST_F(Perf, CountsTheTimeThatTheWindowUsedAndGivesAReasonForWhatItCannot) {
  const Result<void> attached = profiler_->attach();
  ASSERT_TRUE(attached.ok()) << text_of(attached.failure());
  profiler_->arm();
  use_cpu_ms(100);
  profiler_->disarm();
  const Result<std::vector<Output>> outputs = profiler_->detach();
  ASSERT_TRUE(outputs.ok()) << text_of(outputs.failure());
  ASSERT_EQ(outputs.value().size(), 2U);
  const Output& stat = outputs.value()[0];
  EXPECT_FALSE(stat.counts_syscalls);
  const auto json = nlohmann::json::parse(stat.artifacts.at(0).content);
  double clock_ms = 0;
  for (const auto& counter : json["counters"]) {
    EXPECT_NE(counter.contains("value"), counter.contains("reason")) << counter.dump();
    if (counter["event"].get<std::string>().starts_with("task-clock")) clock_ms = counter["value"];
  }
  EXPECT_GE(clock_ms, 90.0) << stat.summary;
  EXPECT_EQ(json["counters"].size(), 11U) << stat.summary;
  const Output& record = outputs.value()[1];
  ASSERT_EQ(record.artifacts.size(), 1U) << record.summary;
  // The innermost frame: those around it need frame pointers, which this program was not built with.
  EXPECT_NE(record.artifacts[0].content.find("clock_gettime"), std::string::npos) << record.artifacts[0].content;
}

TEST_F(Perf, LeavesNoChildBehind) {
  ASSERT_TRUE(profiler_->attach().ok());
  errno = 0;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  ASSERT_TRUE(profiler_->detach().ok());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
}

}  // namespace
}  // namespace syscost::profilers
