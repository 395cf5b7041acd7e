// SPDX-License-Identifier: MIT
//
// The processes below one, also in a PID namespace with the /proc of an outer one, where numbers mean other processes.
#include "faults/contained.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "../sanitized.h"

namespace syscost::bench::faults {
namespace {

/// Runs `body` in a process of its own and returns its text.
template <class Body>
std::string text_of_child(Body body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = body();
    ::_exit(::write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  // One read: processes that the body has left have the writing end, too.
  char buffer[1024];
  const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return std::string(buffer, got > 0 ? static_cast<std::size_t>(got) : 0);
}

/// The text of `body`, which runs in a new PID namespace whose first process has made `others` before it; /proc stays
/// as it is. "skip" where none can be made.
template <class Body>
std::string in_new_namespace(int others, Body body) {
  return text_of_child([&]() -> std::string {
    if (::unshare(CLONE_NEWPID | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) return "skip";
    return text_of_child([&] {
      // From here on the first process: when it ends, the kernel ends all others of the namespace.
      for (int i = 0; i < others; ++i) {
        if (::fork() == 0) {
          for (;;) ::pause();
        }
      }
      std::string text = text_of_child(body);
      int left = 0;
      for (int other = 2; other < 2 + others; ++other) left += ::waitpid(other, nullptr, WNOHANG) == 0 ? 1 : 0;
      return text + ", others alive: " + std::to_string(left);
    });
  });
}

/// A process that waits for ever, below another one that does.
void start_two() {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return;
  if (::fork() == 0) {
    ::fork();
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char both = 0;
  for (int i = 0; i < 2 && ::read(ready[0], &both, 1) == 1; ++i) {
  }
  ::close(ready[0]);
  ::close(ready[1]);
}

std::string look_and_kill() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  start_two();
  std::string text = "below:";
  for (const pid_t process : processes_below()) text += " " + std::to_string(process - ::getpid());
  const KilledTree killed = kill_processes_below();
  return text + ", killed: " + std::to_string(killed.processes) + (killed.is_gone ? ", gone" : ", left");
}

TEST(ProcessTree, KillsAllThatIsBelow) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the numbers of processes follow one another only without other threads";
  const std::string text = in_new_namespace(0, look_and_kill);
  if (text == "skip") GTEST_SKIP() << "a PID namespace cannot be made here";
  EXPECT_EQ(text.find("below: 1 2, killed: 2, gone"), 0U) << text;
}

TEST(ProcessTree, KillsItsOwnAndNoOtherProcessUnderAnOuterProc) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the numbers of processes follow one another only without other threads";
  const std::string text = in_new_namespace(3, look_and_kill);
  if (text == "skip") GTEST_SKIP() << "a PID namespace cannot be made here";
  EXPECT_EQ(text, "below: 1 2, killed: 2, gone, others alive: 3");
}

TEST(ProcessTree, SparesAProcessWithAllThatIsBelowItUnderAnOuterProc) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the numbers of processes follow one another only without other threads";
  const std::string text = in_new_namespace(1, [] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    start_two();
    const pid_t spared = ::getpid() + 1;
    start_two();
    const KilledTree killed = kill_processes_below({spared});
    const std::size_t left = processes_below().size();
    const bool is_all = kill_processes_below().is_gone;
    return std::to_string(killed.processes) + " killed, " + std::to_string(left) + (is_all ? " left" : " not killed");
  });
  if (text == "skip") GTEST_SKIP() << "a PID namespace cannot be made here";
  EXPECT_EQ(text, "2 killed, 2 left, others alive: 1");
}

TEST(ProcessTree, KillsNoneAndSaysWhyIfProcDoesNotShowItsNumbers) {
  const std::string text = text_of_child([]() -> std::string {
    if (::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) return "skip";
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "skip";
    if (::mount("none", "/proc", "tmpfs", 0, nullptr) != 0) return "skip";
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) ::pause();
    }
    const KilledTree killed = kill_processes_below();
    const bool is_alive = ::waitpid(child, nullptr, WNOHANG) == 0;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const bool is_none = kill_processes_below().is_gone;
    return (killed.is_gone ? "gone: "
            : is_alive     ? "alive: "
                           : "?: ") +
           not_killed(killed) + (is_none ? "; none left" : "; left");
  });
  if (text == "skip") GTEST_SKIP() << "/proc cannot be covered here";
  EXPECT_EQ(
      text,
      "alive: a process of this run may go on: /proc does not show the processes of this PID namespace (mount it: "
      "`unshare --mount-proc`); none left");
}

}  // namespace
}  // namespace syscost::bench::faults
