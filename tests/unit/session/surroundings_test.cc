// SPDX-License-Identifier: MIT
#include "session/run/run_info.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace syscost::session {
namespace {

std::string value_of(const std::string& name) {
  const Surroundings all = read_surroundings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  return found == all.end() ? "(none)" : found->second;
}

TEST(SurroundingsTest, SayWhatTheKernelAndTheEnvironmentSay) {
  setenv("LC_ALL", "syscost_XX.UTF-8", 1);
  setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1", 1);
  EXPECT_EQ(value_of("locale"), "syscost_XX.UTF-8");
  EXPECT_EQ(value_of("tunables"), "glibc.malloc.arena_max=1");
  unsetenv("LC_ALL");
  unsetenv("GLIBC_TUNABLES");
  EXPECT_EQ(value_of("tunables"), "none");
  EXPECT_EQ(value_of("user"), geteuid() == 0 ? "root" : "other");
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit fewer = before;
  fewer.rlim_cur = 200;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &fewer), 0);
  EXPECT_EQ(value_of("open_files"), "200");
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(SurroundingsTest, TheShardIsThatOfGoogleTestAndCountsFromOne) {
  EXPECT_EQ(shard_of("GoogleTest", {}), "");
  setenv("GTEST_TOTAL_SHARDS", "4", 1);
  EXPECT_EQ(shard_of("GoogleTest", {}), "");
  setenv("GTEST_SHARD_INDEX", "1", 1);
  EXPECT_EQ(shard_of("GoogleTest", {}), "2 of 4");
  EXPECT_EQ(shard_of("Google Benchmark", {}), "") << "it has no shards, whatever the variables say";
  setenv("GTEST_SHARD_INDEX", "4", 1);
  EXPECT_EQ(shard_of("GoogleTest", {}), "");
  unsetenv("GTEST_TOTAL_SHARDS");
  unsetenv("GTEST_SHARD_INDEX");
}

TEST(SurroundingsTest, AShardOfCatch2IsKnownByItsArguments) {
  EXPECT_EQ(shard_of("Catch2", {"tests", "--shard-count", "4", "--shard-index", "1"}), "2 of 4");
  EXPECT_EQ(shard_of("Catch2", {"tests", "--shard-count=4", "--shard-index:0", "[fast]"}), "1 of 4");
  EXPECT_EQ(shard_of("Catch2", {"tests", "--shard-count", "4"}), "");
  EXPECT_EQ(shard_of("Catch2", {"tests", "--shard-index", "1", "--shard-count"}), "");
  EXPECT_EQ(shard_of("Catch2", {"tests", "--shard-count", "1", "--shard-index", "0"}), "");
  EXPECT_EQ(shard_of("doctest", {"tests", "--shard-count", "4", "--shard-index", "1"}), "") << "it has no shards";
}

TEST(SurroundingsTest, TheDepthOfAFolderIsTheNumberOfFoldersAboveAndWithIt) {
  EXPECT_EQ(depth_of("/"), 0U);
  EXPECT_EQ(depth_of("/a"), 1U);
  EXPECT_EQ(depth_of("/a/b"), 2U);
}

TEST(SurroundingsTest, TheSizeOfTheEnvironmentIsOneOfAFew) {
  EXPECT_EQ(size_class(0), "1 KiB");
  EXPECT_EQ(size_class(1024), "1 KiB");
  EXPECT_EQ(size_class(1025), "2 KiB");
  EXPECT_EQ(size_class(4096), "4 KiB");
}

TEST(SurroundingsTest, WhatTellsUsWhatToDoIsNoPartOfItsSize) {
  const std::string before = value_of("environment");
  setenv("SYSCOST_LABEL", std::string(100'000, 'x').c_str(), 1);
  EXPECT_EQ(value_of("environment"), before);
  unsetenv("SYSCOST_LABEL");
}

TEST(SurroundingsTest, NameWhatIsPreloadedWithoutFolders) {
  EXPECT_EQ(file_names_of("/home/me/build/libslip.so"), "libslip.so");
  EXPECT_EQ(file_names_of("/a/b.so /c:d.so:  relative/e.so"), "b.so:c:d.so:e.so");
  EXPECT_EQ(file_names_of("/usr/lib/syscost/libsyscost-preload.so:/x/libm.so"), "libm.so");  // that of bench run
  EXPECT_EQ(file_names_of("/only/folders/"), "");
  setenv("LD_PRELOAD", "/home/me/libslip.so", 1);
  EXPECT_EQ(value_of("preload"), "libslip.so");
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(value_of("preload"), "none");
}

TEST(SurroundingsTest, AreShort) {
  const std::string text = to_text({{"locale", std::string(100'000, 'x')}, {"cpus", "2"}});
  EXPECT_LT(text.size(), 300U);
  EXPECT_NE(text.find("x... (100000 bytes);cpus=2"), std::string::npos) << text;
}

TEST(SurroundingsTest, HaveTheWholePathOfTheProgram) {
  const std::string path = "/" + std::string(1000, 'x') + "/my_tests";
  EXPECT_EQ(to_text({{"program_path", path}}), "program_path=" + path) << "its end tells two programs apart";
}

TEST(SurroundingsTest, AreOneField) {
  EXPECT_EQ(to_text({{"cpus", "2"}, {"preload", "/a;b.so"}}), "cpus=2;preload=/a,b.so");
  EXPECT_EQ(to_text({}), "");
}

}  // namespace
}  // namespace syscost::session
