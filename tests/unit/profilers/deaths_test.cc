// SPDX-License-Identifier: MIT
//
// The test, bpftrace or the launcher dies: no process of ours stays, and the message says what is lost.
#include <thread>

#include "robustness.h"

namespace syscost::profilers {
namespace {

void attach_and_say() {
  Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
  if (!made.ok() || !made.value()->attach().ok()) _exit(1);
  made.value()->arm();
  say("R");
  while (true) pause();
}

TEST_F(Robustness, ATestThatIsKilledInItsWindowLeavesNothing) {
  const Child child = start(attach_and_say);
  char byte = 0;
  ASSERT_EQ(read(child.report, &byte, 1), 1);
  const std::vector<pid_t> running = tools();
  EXPECT_EQ(running.size(), 3U) << "launcher, bpftrace and gate";
  const std::vector<int> pidfds = watch(running);
  kill(child.pid, SIGKILL);
  finish(child);
  expect_gone(pidfds);
  expect_nothing_left();
}

TEST_F(Robustness, ATestThatIsKilledWhileItAttachesLeavesNothing) {
  const Child child = start(attach_and_say);
  std::vector<pid_t> running;
  while ((running = tools()).size() < 2 && kill(child.pid, 0) == 0) std::this_thread::yield();
  EXPECT_GE(running.size(), 2U) << "the launcher, and bpftrace that tells its version or attaches";
  const std::vector<int> pidfds = watch(running);
  kill(child.pid, SIGKILL);
  finish(child);
  expect_gone(pidfds);
  // The gate may have been started since; it ends with the socket that it reads.
  expect_gone(watch(tools()));
  expect_nothing_left();
}

TEST_F(Robustness, AForkChildThatLivesOnDoesNotKeepTheToolsAlive) {
  std::array<int, 2> hold{};
  ASSERT_EQ(pipe(hold.data()), 0);
  const Child child = start([&] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    // Without the handlers of fork(), as a test's own clone() is.
    if (syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
      close(hold[1]);
      close(0);
      char byte = 0;
      [[maybe_unused]] const ssize_t got = read(hold[0], &byte, 1);
      _exit(0);
    }
    say("R");
    while (true) pause();
  });
  char byte = 0;
  ASSERT_EQ(read(child.report, &byte, 1), 1);
  const std::vector<int> pidfds = watch(tools());
  kill(child.pid, SIGKILL);
  finish(child);
  expect_gone(pidfds);
  expect_nothing_left();
  close(hold[1]);
  close(hold[0]);
}

TEST_F(Robustness, BpftraceThatIsKilledIsAFailureWithItsSignal) {
  const std::string said = in_child([this] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    kill_tool("bpftrace");
    const Result<std::vector<Output>> outputs = made.value()->detach();
    say(outputs.ok() ? "no failure" : text_of(outputs.failure()));
  });
  expect_has(said, {"script syslat", "was killed by signal 9", "dmesg"});
  expect_nothing_left();
}

TEST_F(Robustness, ALauncherThatIsKilledIsAFailureAndTakesBpftraceAlong) {
  const Child child = start([this] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    const std::vector<int> pidfds = watch(tools());
    kill_tool("syscost-profile");
    expect_gone(pidfds);
    const Result<std::vector<Output>> outputs = made.value()->detach();
    say(outputs.ok() ? "no failure" : text_of(outputs.failure()));
  });
  expect_has(finish(child), {"the profile launcher", "ended"});
  expect_nothing_left();
}

TEST_F(Robustness, ATestThatClosesEveryDescriptorIsToldSo) {
  const std::string said = in_child([] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    syscall(SYS_close_range, 3U, ~0U, 0);
    const Result<std::vector<Output>> outputs = made.value()->detach();
    say(outputs.ok() ? "no failure" : text_of(outputs.failure()));
  });
  expect_has(said, {"closed syscost's descriptor", "let the test close"});
  expect_nothing_left();
}

}  // namespace
}  // namespace syscost::profilers
