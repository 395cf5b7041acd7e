// SPDX-License-Identifier: MIT
//
// As in a container: in a PID namespace bpftrace sees other process numbers than the test, and still counts. It needs
// no CAP_SYS_ADMIN.
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "robustness.h"

namespace syscost::profilers {
namespace {

/// 500 writes in a new PID namespace, in which this process is init.
std::string count_in_pid_namespace(bool mounts_proc) {
  return in_child([mounts_proc] {
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(1);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(2);
    say(in_child([mounts_proc] {
      if (mounts_proc && mount("proc", "/proc", "proc", 0, nullptr) != 0) _exit(3);
      Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
      if (!made.ok()) return say("make: " + text_of(made.failure()));
      const Result<void> attached = made.value()->attach();
      if (!attached.ok()) return say("attach: " + text_of(attached.failure()));
      const int out = open("/dev/null", O_WRONLY);
      made.value()->arm();
      for (int i = 0; i < 500; ++i) [[maybe_unused]] const ssize_t put = write(out, "x", 1);
      made.value()->disarm();
      const Result<std::vector<Output>> outputs = made.value()->detach();
      if (!outputs.ok()) return say("detach: " + text_of(outputs.failure()));
      for (const SyscallFigures& one : outputs.value().front().syscalls) {
        say(std::to_string(one.number) + ":" + std::to_string(one.entries.value_or(0)) + " ");
      }
      // Orphans come to init: none may be left for a wait() of the test's.
      say(waitpid(-1, nullptr, WNOHANG | __WALL) < 0 ? "no child" : "a child");
    }));
  });
}

TEST_F(Robustness, CountsInAPidNamespace) {
  if (!may_make_namespaces()) GTEST_SKIP() << kNeedsNamespaces;
  EXPECT_EQ(count_in_pid_namespace(true), "1:500 no child");
  expect_nothing_left();
}

TEST_F(Robustness, CountsInAPidNamespaceThatSeesTheProcOfItsParent) {
  if (!may_make_namespaces()) GTEST_SKIP() << kNeedsNamespaces;
  EXPECT_EQ(count_in_pid_namespace(false), "1:500 no child");
  expect_nothing_left();
}

TEST_F(Robustness, AScriptThatNamesTypesOfTheKernelRunsWithoutCapSysAdmin) {
  const std::string said = in_child([] {
    if (holds(read_confinement().bounding, CAP_SYS_ADMIN) && prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) != 0) _exit(1);
    say(attach_and_detach({.scripts = {"iolat"}, .script_folders = {}}));
  });
  EXPECT_EQ(said, "fine");
  expect_nothing_left();
}

}  // namespace
}  // namespace syscost::profilers
