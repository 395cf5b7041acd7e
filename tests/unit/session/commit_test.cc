// SPDX-License-Identifier: MIT
#include "session/run/run_info.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "csv/temporary_folder.h"

namespace syscost::session {
namespace {

using ::syscost::testing::TemporaryFolder;
using ::syscost::testing::write_file;

const std::string kHash = "0123456789abcdef0123456789abcdef01234567";

class CommitTest : public ::testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    write_file(folder_.file(name), text);
  }
  FoundCommit found(const std::string& below = "") {
    std::filesystem::create_directories(folder_.file(below));
    return commit_of_repository(below.empty() ? folder_.path() : folder_.file(below));
  }
  std::string commit(const std::string& below = "") { return found(below).hash; }
  std::string why_not(const std::string& below = "") { return found(below).why_not; }
  TemporaryFolder folder_;
};

TEST_F(CommitTest, IsFoundFromAFolderInsideTheRepository) {
  file(".git/HEAD", "ref: refs/heads/main\n");
  file(".git/refs/heads/main", kHash + "\n");
  EXPECT_EQ(commit("build/deep/inside"), kHash);
}

TEST_F(CommitTest, IsReadFromADetachedHead) {
  file(".git/HEAD", kHash + "\n");
  EXPECT_EQ(commit(), kHash);
}

TEST_F(CommitTest, IsReadFromPackedReferences) {
  file(".git/HEAD", "ref: refs/heads/main\n");
  file(".git/packed-refs", "# pack-refs with: peeled\nffff refs/heads/main-2\n" + kHash + " refs/heads/main\n");
  EXPECT_EQ(commit(), kHash);
}

TEST_F(CommitTest, IsReadThroughALinkedWorkTree) {
  file("main/.git/worktrees/other/HEAD", "ref: refs/heads/topic\n");
  file("main/.git/worktrees/other/commondir", "../..\n");
  file("main/.git/refs/heads/topic", kHash + "\n");
  file("other/.git", "gitdir: " + folder_.file("main/.git/worktrees/other") + "\n");
  EXPECT_EQ(commit("other/src"), kHash);
}

TEST_F(CommitTest, IsNotWaitedForWhereThereIsNoFile) {
  std::filesystem::create_directories(folder_.file(".git"));
  ASSERT_EQ(mkfifo(folder_.file(".git/HEAD").c_str(), 0600), 0);
  EXPECT_EQ(commit(), "");
  std::filesystem::remove(folder_.file(".git/HEAD"));
  std::filesystem::create_symlink("/dev/zero", folder_.file(".git/HEAD"));
  EXPECT_EQ(commit(), "");
}

TEST_F(CommitTest, IsNoLineOfAFileThatTheHeadLeadsTo) {
  file("secret", kHash + "\n");
  file(".git/secret", kHash + "\n");
  file(".git/refs/heads/main", "a password\n");
  for (const char* name : {"../secret", "refs/../../secret", "refs/heads/../../../secret", "secret", "refs/heads/main",
                           "/etc/hostname", "refs//etc/hostname", "refs/", "refs", "refs/heads/ma\tin", ""}) {
    file(".git/HEAD", "ref: " + std::string(name) + "\n");
    EXPECT_EQ(commit(), "") << name;
  }
  file(".git/HEAD", "ref: " + folder_.file("secret") + "\n");
  EXPECT_EQ(commit(), "");
  for (const std::string& text : {std::string("a password"), kHash.substr(1), kHash + "0", kHash + " or so"}) {
    file(".git/HEAD", text + "\n");
    EXPECT_EQ(commit(), "") << text;
  }
}

TEST_F(CommitTest, MayBeOfSha256) {
  const std::string hash = kHash + "0123456789abcdefABCDEF01";
  file(".git/HEAD", "ref: refs/heads/main\n");
  file(".git/packed-refs", hash + " refs/heads/main\n");
  EXPECT_EQ(commit(), hash);
}

TEST_F(CommitTest, IsNotReadThroughLinksInsideTheRepository) {
  file("secret", kHash + "\n");
  file(".git/HEAD", "ref: refs/heads/main\n");
  std::filesystem::create_directories(folder_.file(".git/refs/heads"));
  std::filesystem::create_symlink(folder_.file("secret"), folder_.file(".git/refs/heads/main"));
  EXPECT_EQ(commit(), "");
  EXPECT_EQ(why_not(), folder_.file(".git/refs/heads/main") + " is a link");
  file("other/heads/main", kHash + "\n");
  std::filesystem::remove_all(folder_.file(".git/refs"));
  std::filesystem::create_symlink(folder_.file("other"), folder_.file(".git/refs"));
  EXPECT_EQ(commit(), "");
  EXPECT_EQ(why_not(), folder_.file(".git/refs") + " is a link");
  file(".git/packed-refs", kHash + " refs/heads/main\n");
  EXPECT_EQ(commit(), kHash);
  EXPECT_EQ(why_not(), "");
  std::filesystem::remove_all(folder_.file(".git/refs"));
  std::filesystem::rename(folder_.file(".git/packed-refs"), folder_.file("packed"));
  std::filesystem::create_symlink(folder_.file("packed"), folder_.file(".git/packed-refs"));
  EXPECT_EQ(commit(), "");
  EXPECT_EQ(why_not(), folder_.file(".git/packed-refs") + " is a link");
  std::filesystem::remove(folder_.file(".git/HEAD"));
  std::filesystem::create_symlink(folder_.file("secret"), folder_.file(".git/HEAD"));
  EXPECT_EQ(commit(), "");
  EXPECT_EQ(why_not(), folder_.file(".git/HEAD") + " is a link");
}

TEST_F(CommitTest, IsReadWhereTheRepositoryItselfIsALink) {
  file("real/HEAD", kHash + "\n");
  std::filesystem::create_directories(folder_.file("work"));
  std::filesystem::create_symlink(folder_.file("real"), folder_.file("work/.git"));
  EXPECT_EQ(commit("work"), kHash);
}

TEST_F(CommitTest, NeedsNoMemoryForAFileWithoutAnEnd) {
  file(".git/HEAD", "");
  ASSERT_EQ(truncate(folder_.file(".git/HEAD").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(commit(), "");
  file(".git/HEAD", "ref: refs/heads/main\n");
  file(".git/packed-refs", "");
  ASSERT_EQ(truncate(folder_.file(".git/packed-refs").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(commit(), "");
}

TEST_F(CommitTest, IsFoundAmongManyPackedReferences) {
  file(".git/HEAD", "ref: refs/heads/main\n");
  std::string packed;
  for (int i = 0; i < 20'000; ++i) packed += std::string(40, 'f') + " refs/tags/" + std::to_string(i) + "\n";
  file(".git/packed-refs", packed + kHash + " refs/heads/main\n");
  EXPECT_EQ(commit(), kHash);
}

TEST_F(CommitTest, IsNotTakenWhereOthersMayWrite) {
  file("shared/.git/HEAD", kHash + "\n");
  for (const char* name : {"shared", "shared/.git"}) {
    const std::string path = folder_.file(name);
    ASSERT_EQ(chmod(path.c_str(), 0757), 0);
    EXPECT_EQ(commit("shared/work"), "") << name;
    EXPECT_EQ(why_not("shared/work"), path + " can be written by other users");
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  }
  EXPECT_EQ(commit("shared/work"), kHash);
  // As /tmp: only the owner of a file can replace it.
  ASSERT_EQ(chmod(folder_.file("shared").c_str(), 01777), 0);
  EXPECT_EQ(commit("shared/work"), kHash);
  ASSERT_EQ(chmod(folder_.file("shared/.git").c_str(), 01777), 0);
  EXPECT_EQ(commit("shared/work"), "");
}

TEST_F(CommitTest, IsTakenWhereTheGroupMayWrite) {
  // As by umask 002, and by `git init --shared=group`.
  file("shared/.git/HEAD", kHash + "\n");
  for (const char* name : {"shared", "shared/.git"}) {
    const std::string path = folder_.file(name);
    if (geteuid() == 0) {
      ASSERT_EQ(chown(path.c_str(), 0, 1002), 0);
    }
    ASSERT_EQ(chmod(path.c_str(), 02775), 0);
  }
  EXPECT_EQ(commit("shared/work"), kHash);
  EXPECT_EQ(why_not("shared/work"), "");
}

TEST_F(CommitTest, IsNotTakenFromASharedFolderThatAPointerNames) {
  file("shared/HEAD", kHash + "\n");
  ASSERT_EQ(chmod(folder_.file("shared").c_str(), 0777), 0);
  file("work/.git", "gitdir: ../shared\n");
  EXPECT_EQ(commit("work"), "");
  file("main/.git/HEAD", "ref: refs/heads/main\n");
  file("main/.git/commondir", folder_.file("shared") + "\n");
  file("shared/refs/heads/main", kHash + "\n");
  EXPECT_EQ(commit("main"), "");
  EXPECT_NE(why_not("main").find("can be written by other users"), std::string::npos);
  ASSERT_EQ(chmod(folder_.file("shared").c_str(), 0755), 0);
  EXPECT_EQ(commit("work"), kHash);
  EXPECT_EQ(commit("main"), kHash);
}

TEST_F(CommitTest, IsNotTakenFromTheRepositoryOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  constexpr uid_t kNobody = 65534;
  file("shared/.git/HEAD", kHash + "\n");
  const std::string git = folder_.file("shared/.git");
  for (const std::string& path : {git, folder_.file("shared")}) {
    ASSERT_EQ(chown(path.c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(commit("shared/work"), "") << path;
    EXPECT_EQ(why_not("shared/work"), path + " belongs to another user (id 65534)");
    // As git does, the user who started sudo counts as oneself.
    setenv("SUDO_UID", "65534", 1);
    EXPECT_EQ(commit("shared/work"), kHash) << path;
    unsetenv("SUDO_UID");
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  // Nor is a repository around it.
  file(".git/HEAD", kHash + "\n");
  ASSERT_EQ(chown(git.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(commit("shared/work"), "");
}

TEST_F(CommitTest, IsEmptyForABranchWithoutACommit) {
  file(".git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(commit(), "");
}

}  // namespace
}  // namespace syscost::session
