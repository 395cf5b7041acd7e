// SPDX-License-Identifier: MIT
//
// Power cuts: what checks see and how they fail, and which bodies are refused. Tests that are expected to fail are in
// `Unsafe`.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "crash_case.h"

namespace adapter_tests {
namespace {

using syscost::CrashPoint;
using syscost::CrashReport;
using Unsafe = Crashes;

TEST_F(Crashes, MarksAndTheEndReachTheCheck) {
  std::set<std::string> seen;
  const CrashReport report = syscost::for_each_crash(
      folder_,
      [&] {
        has("a", "1");
        syscost::crash_mark("one");
        has("b", "2");
        syscost::crash_mark("two");
      },
      [&](const CrashPoint& point) {
        std::string text = point.is_finished ? "end" : "";
        for (const std::string& mark : point.marks) text += " " + mark;
        seen.insert(text);
        EXPECT_EQ(point.has_passed("two"), point.is_finished || point.marks.size() == 2);
        EXPECT_EQ(std::filesystem::path(point.path).filename(), std::filesystem::path(folder_).filename());
      });
  EXPECT_EQ(report.failures(), 0) << report;
  EXPECT_EQ(seen, (Texts{"", " one", "end one two"}));
  syscost::crash_mark("outside of a body");
}

TEST_F(Crashes, TheModelIsChosen) {
  const auto of_model = [&](syscost::CrashModel model) {
    syscost::CrashOptions options;
    options.model = model;
    return syscost::for_each_crash(
        folder_,
        [&] {
          has("first", "");
          has("second", "");
        },
        [](const CrashPoint& point) {
          return std::filesystem::exists(point.path + "/first") || !std::filesystem::exists(point.path + "/second");
        },
        options);
  };
  EXPECT_EQ(of_model(syscost::CrashModel::ordered).failed_states, 0U) << "names come in the order of the calls";
  std::filesystem::remove(folder_ + "/first");
  std::filesystem::remove(folder_ + "/second");
  EXPECT_EQ(of_model(syscost::CrashModel::posix).failed_states, 1U) << "or in any order";
}

TEST_F(Crashes, LeaveNothingBehind) {
  std::string path;
  const CrashReport report = syscost::for_each_crash(
      folder_, [&] { has("a", "x"); },
      [&](const CrashPoint& point) {
        path = std::filesystem::path(point.path).parent_path();
        struct stat status {};
        EXPECT_EQ(stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777, 0700U);
        throw std::runtime_error("thrown");
      });
  EXPECT_EQ(report.failed_states, report.states);
  EXPECT_EQ(report.failed.front().message, "thrown");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Crashes, OfAChildAreFailuresOfAState) {
  syscost::CrashOptions options;
  options.in_child = true;
  const CrashReport report = syscost::for_each_crash(
      folder_, [&] { has("a", "x"); },
      [&](const CrashPoint& point) {
        if (load(point.path + "/a") == "x") std::raise(SIGKILL);
        return !std::filesystem::exists(point.path + "/a");
      },
      options);
  EXPECT_EQ(report.states, 4U);
  EXPECT_EQ(report.failed_states, 3U);
  std::set<std::string> messages;
  for (const syscost::CrashFailure& failure : report.failed) messages.insert(failure.message);
  EXPECT_EQ(messages, (Texts{"", "the check was ended by: Killed"}));
}

TEST_F(Crashes, TheBodyCountsAndNothingOfOurs) {
  CrashReport report;
  const syscost::Cost cost = syscost::measure([&] {
    report = syscost::for_each_crash(
        folder_, [&] { close(open_file("a")); }, [](const CrashPoint&) {});
  });
  EXPECT_EQ(report.failures(), 0) << report;
  EXPECT_EQ(cost.calls("openat"), 1) << cost;
  EXPECT_EQ(cost.calls("%file,%desc"), 2) << cost;
}

TEST_F(Crashes, WhatTheBodyThrowsPassesThrough) {
  EXPECT_THROW(static_cast<void>(syscost::for_each_crash(
                   folder_, [] { throw std::runtime_error("body"); }, [](const CrashPoint&) {})),
               std::runtime_error);
  EXPECT_EQ(texts("a", [] {}), Texts{"-"});
}

// ---- what is refused ------------------------------------------------------------------------------------------------

TEST_F(Crashes, ChangesThatAreNotSeenAreRefused) {
  has("mapped", "....");
  const auto map = [&] {
    const int file = open_file("mapped");
    auto* const text = static_cast<char*>(mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    text[0] = text[0] == 'x' ? 'y' : 'x';
    munmap(text, 4);
    close(file);
  };
  EXPECT_NE(why_not(map).find("mapped differs"), std::string::npos) << why_not(map);
  syscost::CrashOptions options;
  options.may_be_mapped = {"map*"};
  EXPECT_EQ(why_not(map, options), "");
  EXPECT_NE(why_not([&] {
              const pid_t child = fork();
              if (child == 0) {
                close(open_file("by_child"));
                _exit(0);
              }
              waitpid(child, nullptr, 0);
            }).find("by_child differs"),
            std::string::npos);
}

TEST_F(Crashes, WhatTheModelLacksIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_NE(why_not([&] {
              const int file = open_file("a");
              EXPECT_EQ(splice(ends[0], nullptr, file, nullptr, 1, 0), 1);
              close(file);
            }).find("splice"),
            std::string::npos);
  close(ends[0]);
  close(ends[1]);
  EXPECT_NE(why_not([&] { EXPECT_EQ(mkfifo(at("pipe").c_str(), 0600), 0); }).find("a pipe"), std::string::npos);
}

TEST_F(Crashes, MistakesAreRefused) {
  std::string inner;
  EXPECT_EQ(why_not([&] { inner = why_not([] {}); }), "");
  EXPECT_NE(inner.find("Another for_each_crash"), std::string::npos) << inner;
  syscost::CrashOptions options;
  options.block_bytes = 1000;
  EXPECT_NE(why_not([] {}, options).find("block_bytes is 1000"), std::string::npos);
  options = {};
  options.most_states = 0;
  EXPECT_NE(why_not([] {}, options).find("most_states is 0"), std::string::npos);
  const CrashReport report = syscost::for_each_crash(
      at("none"), [] {}, [](const CrashPoint&) {});
  ASSERT_NE(report.why, nullptr);
  EXPECT_FALSE(report.ok());
}

// ---- failures -------------------------------------------------------------------------------------------------------

TEST_F(Unsafe, ByAnAssertionOfTheCheck) {
  has("f", "old");
  EXPECT_CRASH_SAFE(
      folder_,
      [&] {
        has("t", "new");
        EXPECT_EQ(rename(at("t").c_str(), at("f").c_str()), 0);
      },
      [](const CrashPoint& point) {
        const std::string text = load(point.path + "/f");
        EXPECT_TRUE(text == "old" || text == "new") << "it holds " << text.size() << " bytes";
      });
}

TEST_F(Unsafe, ByFalseInAChild) {
  syscost::CrashOptions options;
  options.in_child = true;
  EXPECT_CRASH_SAFE(
      folder_, [&] { has("a", "x"); }, [](const CrashPoint& point) { return load(point.path + "/a").empty(); },
      options);
}

}  // namespace
}  // namespace adapter_tests
