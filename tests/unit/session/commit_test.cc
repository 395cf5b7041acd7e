// SPDX-License-Identifier: MIT
#include "session/run/commit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
  std::string commit(const std::string& below = "") {
    std::filesystem::create_directories(folder_.file(below));
    return commit_of_repository(below.empty() ? folder_.path() : folder_.file(below));
  }
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

TEST_F(CommitTest, IsEmptyForABranchWithoutACommit) {
  file(".git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(commit(), "");
}

}  // namespace
}  // namespace syscost::session
