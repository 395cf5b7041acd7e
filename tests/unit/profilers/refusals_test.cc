// SPDX-License-Identifier: MIT
//
// If something is missing or wrong, the message says what it is and how to get it, and no process stays.
#include <sched.h>
#include <sys/mount.h>

#include "robustness.h"

namespace syscost::profilers {
namespace {

TEST_F(Robustness, AMissingBpftraceSaysHowToGetIt) {
  if (!may_make_namespaces()) GTEST_SKIP() << kNeedsNamespaces;
  const std::string said = in_child([] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(1);
    for (const char* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
      // Over a file of any kind: no file that can be executed is there then.
      mount("/dev/null", (std::string(folder) + "/bpftrace").c_str(), nullptr, MS_BIND, nullptr);
    }
    setenv("PATH", "/nowhere", 1);
    say(attach_and_detach({.scripts = {"syslat"}, .script_folders = {}}));
  });
  expect_has(said, {"make: bpftrace is not installed: not in /nowhere:", "apt-get install bpftrace"});
}

TEST_F(Robustness, ABpftraceThatCannotBeExecutedOrIsTooOldIsNamed) {
  const auto with_bpftrace = [this](const std::string& content) {
    const fs::path file = folder_ / "bpftrace";
    std::ofstream(file) << content;
    fs::permissions(file, fs::perms::owner_all);
    return in_child([this] {
      setenv("PATH", folder_.c_str(), 1);
      say(attach_and_detach({.scripts = {"syslat"}, .script_folders = {}}));
    });
  };
  expect_has(with_bpftrace("no program\n"), {"Cannot execute", folder_.string(), "ENOEXEC", "apt-get install"});
  expect_has(with_bpftrace("#!/bin/sh\necho bpftrace v0.9.2\n"), {"is version 0.9", folder_.string(), "0.17 or later"});
  expect_has(with_bpftrace("#!/bin/sh\nexit 1\n"), {"does not print a version", "0.17 or later"});
  expect_nothing_left();
}

TEST_F(Robustness, WhoIsNotRootIsToldBeforeAnythingIsStarted) {
  const std::string said = in_child([] {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(1);
    say(attach_and_detach({.scripts = {"syslat"}, .script_folders = {}}));
  });
  expect_has(said, {"make: bpftrace works for root only", "run as root", "--syscost_bpf_sudo"});
}

TEST_F(Robustness, AScriptWithAnErrorIsNamedWithFileAndLine) {
  const std::string said = attach_and_detach(with("broken", "BEGIN { @a = nofunction(1) }\n"));
  expect_has(said, {"attach: ", "script broken", "nofunction", "correct " + (folder_ / "broken.bt").string()});
  expect_nothing_left();
}

TEST_F(Robustness, AScriptForATracepointThatIsNotThereSaysSo) {
  const std::string said = attach_and_detach(with("absent", "tracepoint:nope:nope /pid == $1/ { @a = count(); }\n"));
  expect_has(said, {"attach: ", "script absent", "nope", "bpftrace -l"});
  expect_nothing_left();
}

TEST_F(Robustness, AScriptThatCallsExitIsRefusedSinceItsCountWouldBeShort) {
  const std::string said = attach_and_detach(with("quits", "interval:ms:1 { exit(); } BEGIN { @a = count(); }\n"));
  expect_has(said, {"make: script quits calls exit()", "remove exit() from " + (folder_ / "quits.bt").string()});
  expect_nothing_left();
}

TEST_F(Robustness, AnUnknownScriptBesideAGoodOneStartsNothing) {
  const std::string said = attach_and_detach({.scripts = {"syslat", "sysclount"}, .script_folders = {}});
  expect_has(said, {"make: there is no script 'sysclount'", "did you mean syscount?"});
  expect_nothing_left();
}

TEST_F(Robustness, ABrokenScriptBesideAGoodOneIsTheOneThatIsNamed) {
  ProfilerOptions options = with("broken", "BEGIN { @a = nofunction(1) }\n");
  options.scripts = {"syslat", "broken", "syscount"};
  expect_has(attach_and_detach(options), {"attach: ", "script broken", "nofunction"});
  expect_nothing_left();
}

TEST_F(Robustness, AScriptThatCountsOutsideTheWindowFailsItsCheck) {
  Result<std::unique_ptr<Profiler>> made = make_bpftrace(
      with("always", "tracepoint:raw_syscalls:sys_enter /pid == $1/ { @syscall_entries[args->id] = count(); }\n" +
                         std::string("tracepoint:raw_syscalls:sys_enter /pid == $1 && args->id == 110/\n") +
                         "{ @syscall_entries[args->id] = count(); }\n"));
  ASSERT_TRUE(made.ok()) << text_of(made.failure());
  const Result<void> checked = made.value()->check();
  ASSERT_FALSE(checked.ok());
  expect_has(text_of(checked.failure()), {"counted 128 of 64 known calls", "the word at $2"});
}

}  // namespace
}  // namespace syscost::profilers
