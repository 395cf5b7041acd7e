// SPDX-License-Identifier: MIT
//
// The perf profiler with the real perf.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "robustness.h"
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

/// So many page faults, of pages that nothing touched before.
void fault(std::size_t pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  munmap(memory, pages * page);
}

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

TEST_F(Perf, CountsWhatTheWindowDidAndGivesAReasonForWhatItCannot) {
  constexpr std::size_t kInside = 1000;
  constexpr std::size_t kOutside = 20'000;
  fault(kOutside);
  const Result<void> attached = profiler_->attach();
  ASSERT_TRUE(attached.ok()) << text_of(attached.failure());
  profiler_->arm();
  fault(kInside);
  use_cpu_ms(100);
  profiler_->disarm();
  const Result<std::vector<Output>> outputs = profiler_->detach();
  ASSERT_TRUE(outputs.ok()) << text_of(outputs.failure());
  ASSERT_EQ(outputs.value().size(), 2U);
  const Output& stat = outputs.value()[0];
  EXPECT_FALSE(stat.counts_syscalls);
  const auto json = nlohmann::json::parse(stat.artifacts.at(0).content);
  std::map<std::string, double> values;
  for (const auto& counter : json["counters"]) {
    EXPECT_NE(counter.contains("value"), counter.contains("reason")) << counter.dump();
    const auto event = counter["event"].get<std::string>();
    if (counter.contains("value")) values[event.substr(0, event.find(':'))] = counter["value"];
  }
  EXPECT_GE(values["page-faults"], kInside) << stat.summary;
  EXPECT_LT(values["page-faults"], kOutside) << "faults before the window are in it: " << stat.summary;
  EXPECT_GT(values["task-clock"], 0.0) << stat.summary;
  EXPECT_EQ(json["counters"].size(), 11U) << stat.summary;
  const Output& record = outputs.value()[1];
  ASSERT_EQ(record.artifacts.size(), 1U) << record.summary;
  // The innermost frame: those around it need frame pointers, which this program was not built with.
  EXPECT_NE(record.artifacts[0].content.find("clock_gettime"), std::string::npos) << record.artifacts[0].content;
}

TEST_F(Perf, LeavesNoChild) {
  ASSERT_TRUE(profiler_->attach().ok());
  errno = 0;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  ASSERT_TRUE(profiler_->detach().ok());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
}

/// Makes the page that perf's script fills the only one, as npm installs it for the whole machine: a stand-in.
void install_flame_page() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(1);
  std::error_code none;
  if (fs::exists("/usr/share/d3-flame-graph", none) &&
      mount("tmpfs", "/usr/share/d3-flame-graph", "tmpfs", 0, nullptr) != 0) {
    _exit(2);
  }
  if (mount("tmpfs", "/usr/local/lib", "tmpfs", 0, nullptr) != 0) _exit(3);
  const fs::path folder = "/usr/local/lib/node_modules/d3-flame-graph/dist/templates";
  fs::create_directories(folder);
  std::ofstream(folder / "d3-flamegraph-base.html") << "<p>stand-in</p>/** @flamegraph_json **/";
}

TEST_F(Perf, DrawsAFlameGraphWhereItsPageIs) {
  if (!may_make_namespaces()) GTEST_SKIP() << kNeedsNamespaces;
  const std::string said = in_child([] {
    install_flame_page();
    Result<std::unique_ptr<Profiler>> made = make_perf({});
    if (!made.ok()) return say(text_of(made.failure()));
    if (const Result<void> attached = made.value()->attach(); !attached.ok()) return say(text_of(attached.failure()));
    made.value()->arm();
    use_cpu_ms(100);
    made.value()->disarm();
    const Result<std::vector<Output>> outputs = made.value()->detach();
    if (!outputs.ok()) return say(text_of(outputs.failure()));
    const Output& record = outputs.value().at(1);
    say(record.summary);
    for (const Artifact& artifact : record.artifacts) say(artifact.name + " " + artifact.content);
  });
  EXPECT_TRUE(said.starts_with("flamegraph.html <p>stand-in</p>{")) << said;
  EXPECT_NE(said.find("clock_gettime"), std::string::npos) << said;
}

}  // namespace
}  // namespace syscost::profilers
