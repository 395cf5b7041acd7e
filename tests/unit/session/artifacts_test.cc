// SPDX-License-Identifier: MIT
#include "extras/profilers/session/artifacts.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "csv/row.h"
#include "csv/temporary_folder.h"

namespace syscost::session {
namespace {

using ::syscost::testing::read_file;
using ::syscost::testing::TemporaryFolder;
using ::syscost::testing::write_file;

TEST(SafeName, LeavesOrdinaryNamesAsTheyAre) {
  EXPECT_EQ(safe_name("Suite.Test"), "Suite.Test");
  EXPECT_EQ(safe_name("loop flush"), "loop flush");
}

TEST(SafeName, MakesOneNameOfOddCharactersAndTellsDifferentOnesApart) {
  const std::string slash = safe_name("All/Suite.Test/0");
  EXPECT_EQ(slash.substr(0, 17), "All_Suite.Test_0-");
  EXPECT_EQ(slash.find('/'), std::string::npos);
  EXPECT_NE(slash, safe_name("All_Suite.Test/0"));
  EXPECT_NE(safe_name("a\nb"), safe_name("a\tb"));
  EXPECT_NE(safe_name(std::string_view("a\0b", 3)).find("a_0b-"), std::string::npos);
}

TEST(SafeName, IsThatOfTheTextInARow) {
  for (const char* const raw : {"one\ntwo", "one\r", "caf\xe9"}) {
    EXPECT_EQ(safe_name(raw).rfind('-'), safe_name(csv::visible(raw)).rfind('-')) << raw;
    EXPECT_EQ(safe_name(raw).substr(0, 5), safe_name(csv::visible(raw)).substr(0, 5)) << raw;
  }
}

TEST(SafeName, LeadsNowhereElse) {
  for (const char* name : {".", "..", ".hidden", "-rf", ""}) {
    const std::string safe = safe_name(name);
    EXPECT_EQ(safe.front(), '_') << name;
  }
}

TEST(SafeName, FitsAFileSystemHoweverLongTheName) {
  const std::string first(3000, 'x');
  EXPECT_LT(safe_name(first).size(), 200U);
  EXPECT_NE(safe_name(first), safe_name(first + "y"));
}

TEST(Artifacts, NeverWriteOverWhatIsThere) {
  TemporaryFolder folder;
  Result<Artifacts> artifacts = Artifacts::open(folder.file("new/deep"), "run", "program");
  ASSERT_TRUE(artifacts.ok()) << artifacts.failure().reason;
  EXPECT_EQ(artifacts.value().folder(), folder.file("new/deep/run/program"));
  Result<std::string> first = artifacts.value().make_folder({}, "A.B");
  Result<std::string> second = artifacts.value().make_folder({}, "A.B");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first.value(), folder.file("new/deep/run/program/A.B"));
  EXPECT_EQ(second.value(), first.value() + "~2");
  ASSERT_TRUE(artifacts.value().write(first.value(), "a.txt", "one").ok());
  EXPECT_FALSE(artifacts.value().write(first.value(), "a.txt", "two").ok());
  EXPECT_EQ(read_file(first.value() + "/a.txt"), "one");
}

TEST(Artifacts, AreMadeAgainWhenATestRemovedThem) {
  TemporaryFolder folder;
  Result<Artifacts> artifacts = Artifacts::open(folder.file("a"), "run", "program");
  ASSERT_TRUE(artifacts.ok());
  std::filesystem::remove_all(folder.file("a"));
  Result<std::string> made = artifacts.value().make_folder({}, "A.B");
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(artifacts.value().write(made.value(), "a.txt", "one").ok());
}

TEST(Artifacts, SayWhereTheyCannotBeWritten) {
  TemporaryFolder folder;
  write_file(folder.file("file"), "not a folder");
  Result<Artifacts> artifacts = Artifacts::open(folder.file("file"), "run", "program");
  ASSERT_FALSE(artifacts.ok());
  EXPECT_NE(artifacts.failure().reason.find(folder.file("file")), std::string::npos) << artifacts.failure().reason;
}

TEST(Artifacts, LeaveNothingOfAFileThatDidNotFit) {
  TemporaryFolder folder;
  Result<Artifacts> artifacts = Artifacts::open(folder.file("a"), "run", "program");
  ASSERT_TRUE(artifacts.ok());
  Result<std::string> made = artifacts.value().make_folder({}, "A.B");
  ASSERT_TRUE(made.ok());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit few{2, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &few);
  const Result<void> written = artifacts.value().write(made.value(), "a.txt", "text");
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.failure().reason.find(made.value() + "/a.txt"), std::string::npos) << written.failure().reason;
  EXPECT_FALSE(std::filesystem::exists(made.value() + "/a.txt"));
}

TEST(Artifacts, FollowNoLinkThatSomebodyPlanted) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("victim"));
  std::filesystem::create_directories(folder.file("root/run"));
  std::filesystem::create_symlink(folder.file("victim"), folder.file("root/planted"));
  std::filesystem::create_symlink(folder.file("victim"), folder.file("root/run/program"));
  for (const char* run : {"planted", "run"}) {
    const Result<Artifacts> artifacts = Artifacts::open(folder.file("root"), run, "program");
    ASSERT_FALSE(artifacts.ok());
    EXPECT_NE(artifacts.failure().reason.find("through the link " + folder.file("root/") + run), std::string::npos)
        << artifacts.failure().reason;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("victim")));
}

TEST(Artifacts, FollowALinkAsTheirRootOnlyIfTheUserMadeOrNamedIt) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("mine"));
  std::filesystem::create_directories(folder.file("victim"));
  std::filesystem::create_symlink(folder.file("mine"), folder.file("of_my_choice"));
  std::filesystem::create_symlink("victim", folder.file("syscost_artifacts"));
  const std::string root = folder.file("syscost_artifacts");
  EXPECT_TRUE(Artifacts::open(folder.file("of_my_choice"), "run", "program").ok());
  EXPECT_TRUE(std::filesystem::exists(folder.file("mine/run/program")));
  EXPECT_TRUE(Artifacts::open(root, "of_mine", "program").ok());
  EXPECT_TRUE(std::filesystem::exists(folder.file("victim/of_mine/program")));
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a link another's";
  ASSERT_EQ(lchown(root.c_str(), 65534, 65534), 0);
  const Result<Artifacts> artifacts = Artifacts::open(root, "run", "program");
  ASSERT_FALSE(artifacts.ok());
  EXPECT_EQ(artifacts.failure().reason, "artifacts are not written through the link " + root);
  EXPECT_FALSE(std::filesystem::exists(folder.file("victim/run")));
}

TEST(Artifacts, ArePutIntoTheFolderOfAnotherUserWhereAllBelongsToThatUser) {
  TemporaryFolder folder;
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a folder another's";
  // As where root in a container measures in the folder of a user of the host.
  const std::string root = folder.file("work/syscost_artifacts");
  for (const std::string& path : {folder.file("work"), root, root + "/run"}) {
    std::filesystem::create_directories(path);
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    ASSERT_EQ(chmod(path.c_str(), 0775), 0);
  }
  EXPECT_TRUE(Artifacts::open(root, "run", "program").ok());
  for (const std::string& path : {folder.file("work"), root}) {
    ASSERT_EQ(chmod(path.c_str(), 01777), 0);
    EXPECT_FALSE(Artifacts::open(root, "run", "program").ok()) << path << " is shared";
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  }
}

TEST(Artifacts, AreNotPutIntoTheRootOfAnotherUser) {
  TemporaryFolder folder;
  const std::string root = folder.file("syscost_artifacts");
  std::filesystem::create_directories(root);
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a folder another's";
  ASSERT_EQ(chown(root.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(root.c_str(), 0777), 0);
  const Result<Artifacts> artifacts = Artifacts::open(root, "run", "program");
  ASSERT_FALSE(artifacts.ok());
  EXPECT_NE(artifacts.failure().reason.find("belongs to another user (id 65534)"), std::string::npos)
      << artifacts.failure().reason;
  EXPECT_TRUE(std::filesystem::is_empty(root));
  // The user who started sudo measured before without it.
  setenv("SUDO_UID", "65534", 1);
  EXPECT_TRUE(Artifacts::open(root, "run", "program").ok());
  unsetenv("SUDO_UID");
}

TEST(Artifacts, FollowNoLinkThatComesLater) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("victim"));
  const Result<Artifacts> artifacts = Artifacts::open(folder.file("root"), "run", "program");
  ASSERT_TRUE(artifacts.ok());
  const Result<std::string> made = artifacts.value().make_folder({}, "A.B");
  ASSERT_TRUE(made.ok());
  std::filesystem::remove(made.value());
  std::filesystem::create_symlink(folder.file("victim"), made.value());
  EXPECT_FALSE(artifacts.value().write(made.value(), "a.txt", "text").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("victim")));
}

TEST(Artifacts, AreNotPutIntoAFolderOfAnotherUser) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("root/run"));
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a folder another's";
  ASSERT_EQ(chown(folder.file("root/run").c_str(), 65534, 65534), 0);
  const Result<Artifacts> artifacts = Artifacts::open(folder.file("root"), "run", "program");
  ASSERT_FALSE(artifacts.ok());
  EXPECT_NE(artifacts.failure().reason.find("belongs to another user (id 65534)"), std::string::npos)
      << artifacts.failure().reason;
}

}  // namespace
}  // namespace syscost::session
