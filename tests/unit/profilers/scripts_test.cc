// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/scripts.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "extras/profilers/bpftrace/bpftrace_diagnosis.h"
#include "extras/profilers/find_tools.h"

namespace syscost::profilers {
namespace {

class Scripts : public testing::Test {
 protected:
  Scripts() {
    std::string pattern = (std::filesystem::temp_directory_path() / "syscost scripts XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    options_.script_folders = {folder_};
  }
  ~Scripts() override { std::filesystem::remove_all(folder_); }

  void add(const std::string& name, const std::string& source) const {
    std::ofstream(std::filesystem::path(folder_) / name) << source;
  }

  std::string folder_;
  ProfilerOptions options_;
};

TEST_F(Scripts, ThatShipAreListedWithTheirPurpose) {
  const std::vector<ScriptInfo> all = list_scripts({});
  std::vector<std::string> names;
  for (const ScriptInfo& script : all) {
    names.push_back(script.name);
    EXPECT_FALSE(script.purpose.empty()) << script.name;
    EXPECT_TRUE(std::filesystem::path(script.path).is_absolute()) << script.path;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"fsync", "iolat", "offcpu", "pagefault", "runqlat", "syscount", "syslat"}));
}

TEST_F(Scripts, ThatShipCountWhatTheyCouldNotDecide) {
  for (const ScriptInfo& info : list_scripts({})) {
    const Result<Script> script = find_script({}, info.name);
    ASSERT_TRUE(script.ok());
    const std::string& source = script.value().source;
    EXPECT_TRUE(source.find("@syscost_unread = count()") != std::string::npos ||
                source.find("_undecided = count()") != std::string::npos)
        << info.name;
    EXPECT_NE(script.value().source.find("pid == $1"), std::string::npos) << info.name;
  }
}

TEST_F(Scripts, OfTheUserAreFoundBeforeOurs) {
  add("syslat.bt", "// mine\nBEGIN { }\n");
  add("other.bt", "#!/usr/bin/env bpftrace\n// SPDX-License-Identifier: MIT\n// other: does it\nBEGIN { }\n");
  add("notes.txt", "no script");
  EXPECT_EQ(find_script(options_, "syslat").value().info.purpose, "mine");
  EXPECT_EQ(find_script(options_, "other").value().info.purpose, "does it");
  const std::vector<ScriptInfo> all = list_scripts(options_);
  EXPECT_EQ(all.front().name, "other");
  EXPECT_EQ(all.size(), list_scripts({}).size() + 1);
}

TEST_F(Scripts, UnknownOnesNameTheNearest) {
  const Result<Script> script = find_script(options_, "sylsat");
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.failure().reason, "there is no script 'sylsat'");
  EXPECT_NE(script.failure().how_to_fix.find("did you mean syslat?"), std::string::npos) << script.failure().how_to_fix;
  const Result<Script> far_off = find_script(options_, "everything");
  EXPECT_EQ(far_off.failure().how_to_fix.find("did you mean"), std::string::npos);
  EXPECT_NE(far_off.failure().how_to_fix.find("fsync, iolat"), std::string::npos);
}

TEST_F(Scripts, AreNamesAndNoPaths) {
  for (const char* name : {"", ".", "../syslat", "/etc/passwd", "a/b"}) {
    EXPECT_FALSE(find_script(options_, name).ok()) << name;
  }
}

TEST_F(Scripts, NamedAsFilesAreToldHowTheyAreNamed) {
  EXPECT_EQ(find_script(options_, "syslat.bt").failure().how_to_fix,
            "name it without folder and .bt: --syscost_bpf syslat");
  EXPECT_EQ(find_script(options_, "my/own.bt").failure().how_to_fix,
            "name it without folder and .bt: --syscost_bpf_path my --syscost_bpf own");
}

TEST_F(Scripts, MissingFoldersAreNamedAndNotPassedOver) {
  options_.script_folders = {folder_, "/nonexistent"};
  const Result<Script> script = find_script(options_, "syslat");
  ASSERT_FALSE(script.ok());
  EXPECT_NE(script.failure().reason.find("/nonexistent"), std::string::npos) << script.failure().reason;
  EXPECT_FALSE(check_script_folders(options_).ok());
  options_.script_folders = {folder_};
  EXPECT_TRUE(check_script_folders(options_).ok());
}

TEST_F(Scripts, AreFilesAndNothingElse) {
  std::filesystem::create_directory(std::filesystem::path(folder_) / "folder.bt");
  ASSERT_EQ(mkfifo((folder_ + "/pipe.bt").c_str(), 0600), 0);
  EXPECT_EQ(list_scripts(options_).size(), list_scripts({}).size());
  for (const char* name : {"folder", "pipe"}) {
    const Result<Script> script = find_script(options_, name);
    ASSERT_FALSE(script.ok()) << name;
    EXPECT_EQ(script.failure().reason,
              std::string("script ") + name + " is not a file: " + folder_ + "/" + name + ".bt");
  }
}

TEST_F(Scripts, AndLauncherAreBesideTheProgram) {
  EXPECT_TRUE(find_launcher().ok()) << find_launcher().failure().reason;
  EXPECT_FALSE(shipped_scripts_folder().empty());
}

TEST(BpftraceVersion, IsJudged) {
  EXPECT_TRUE(judge_version("bpftrace v0.17.0\n", "/usr/bin/bpftrace").ok());
  EXPECT_TRUE(judge_version("bpftrace v0.23.2-dirty\n", "/usr/bin/bpftrace").ok());
  EXPECT_TRUE(judge_version("bpftrace v1.0.0\n", "/usr/bin/bpftrace").ok());
  for (const auto& [printed, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"bpftrace v0.9.2\n", "is version 0.9"},
           {"bpftrace v0.16.99\n", "is version 0.16"},
           {"hello\n", "does not print a version of bpftrace: hello"},
           {"", "does not print a version of bpftrace"}}) {
    const Result<void> judged = judge_version(printed, "/usr/bin/bpftrace");
    ASSERT_FALSE(judged.ok()) << printed;
    EXPECT_NE(judged.failure().reason.find(words), std::string::npos) << judged.failure().reason;
  }
}

Confinement granted_container() {
  Confinement here;
  here.container = Container::docker;
  here.is_root = true;
  here.bounding = here.effective = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
  return here;
}

TEST(BpftraceSurroundings, AreFineForRootWithBothCapabilitiesAndTracefs) {
  EXPECT_TRUE(judge_surroundings(granted_container(), true, false).ok());
  Confinement outside;
  outside.is_root = true;
  EXPECT_TRUE(judge_surroundings(outside, true, false).ok());
}

TEST(BpftraceSurroundings, OfAnOrdinaryUserNeedSudo) {
  Confinement here = granted_container();
  here.is_root = false;
  EXPECT_EQ(judge_surroundings(here, true, false).failure().reason,
            "bpftrace works for root only, and this process is not root");
  EXPECT_TRUE(judge_surroundings(here, true, true).ok());
}

TEST(BpftraceSurroundings, WithoutTracefsNameWhatShowsIt) {
  EXPECT_EQ(judge_surroundings(granted_container(), false, false).failure().how_to_fix,
            "in compose.yaml volumes: [\"/sys/kernel/tracing:/sys/kernel/tracing:ro\"], or docker run -v "
            "/sys/kernel/tracing:/sys/kernel/tracing:ro");
  Confinement can_mount = granted_container();
  can_mount.bounding = can_mount.effective = 1ULL << CAP_SYS_ADMIN;
  EXPECT_EQ(judge_surroundings(can_mount, false, false).failure().how_to_fix,
            "mount it: mount -t tracefs nodev /sys/kernel/tracing");
}

TEST(BpftraceSurroundings, OfAContainerNameExactlyWhatItWasNotGranted) {
  Confinement here = granted_container();
  here.bounding = here.effective = 1ULL << CAP_BPF;
  const Result<void> judged = judge_surroundings(here, true, false);
  EXPECT_EQ(judged.failure().reason,
            "bpftrace needs CAP_BPF and CAP_PERFMON; this container was not granted CAP_PERFMON");
  EXPECT_EQ(judged.failure().how_to_fix, "in compose.yaml cap_add: [PERFMON], or docker run --cap-add PERFMON");
}

TEST(BpftraceSurroundings, OfARootlessContainerCannotBeGranted) {
  Confinement here = granted_container();
  here.in_user_namespace = true;
  EXPECT_EQ(judge_surroundings(here, true, false).failure().how_to_fix, "use a rootful container engine");
}

TEST(BpftraceInAPidNamespace, RefusesScriptsThatCompareItsNumbersWithTheSchedulers) {
  std::map<std::string, Failure> refused;
  std::size_t fine = 0;
  for (const ScriptInfo& info : list_scripts({})) {
    const Result<void> judged = judge_in_pid_namespace(info.name, find_script({}, info.name).value().source);
    if (!judged.ok()) refused.emplace(info.name, judged.failure());
    if (judged.ok()) ++fine;
  }
  ASSERT_EQ(refused.size(), 2U);
  ASSERT_TRUE(refused.contains("offcpu") && refused.contains("runqlat"));
  EXPECT_GT(fine, 3U) << "the other scripts of syscost";
  for (const auto& [name, failure] : refused) {
    EXPECT_EQ(failure.reason.rfind("script " + name + " sees nothing in a PID namespace", 0), 0U) << failure.reason;
    EXPECT_NE(failure.how_to_fix.find("--pid=host"), std::string::npos) << failure.how_to_fix;
  }
}

// Messages of bpftrace 0.17, and the diagnosis of each.
TEST(BpftraceFailures, HaveCauseAndFix) {
  struct Case {
    const char* said;
    const char* reason;
    const char* fix;
  };
  const Case cases[] = {
      {"ERROR: bpftrace currently only supports running as the root user.\n", "root only", "run as root"},
      {"stdin:1:1-21: ERROR: tracepoint not found: nope:nope\n", "does not have", "bpftrace -l"},
      {"x.bt:1:14-17: ERROR: Unknown function: foo\n", "Unknown function: foo", "correct /x.bt"},
      {"ERROR: Could not set BPF: Operation not permitted\n", "did not let", "CAP_SYS_ADMIN"},
      {"sudo: a password is required\n", "sudo did not start", "NOPASSWD"},
  };
  for (const Case& one : cases) {
    CommandResult result;
    result.errors = std::string("ERROR: Unknown error -1: couldn't set RLIMIT_MEMLOCK for bpftrace.\n") + one.said;
    result.wait_status = 1 << 8;
    result.ended_early = true;
    const Failure failure = explain_failure(result, "x", "/x.bt", std::string_view(one.said).starts_with("sudo"));
    EXPECT_NE(failure.reason.find(one.reason), std::string::npos) << failure.reason;
    EXPECT_NE(failure.how_to_fix.find(one.fix), std::string::npos) << failure.how_to_fix;
    EXPECT_EQ(failure.reason.find("MEMLOCK"), std::string::npos) << failure.reason;
  }
}

}  // namespace
}  // namespace syscost::profilers
