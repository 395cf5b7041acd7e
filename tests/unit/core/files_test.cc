// SPDX-License-Identifier: MIT
#include "os/files.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "csv/temporary_folder.h"

namespace syscost {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

TEST(OpenRegular, WaitsForNoWriterAndOpensNoDevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(open_regular(folder.file("fifo").c_str()).is_open());
  EXPECT_EQ(errno, EINVAL);
  EXPECT_FALSE(open_regular("/dev/zero").is_open());
  EXPECT_FALSE(open_regular(folder.path().c_str()).is_open());
  EXPECT_EQ(errno, EISDIR);
  write_file(folder.file("file"), "text");
  std::filesystem::create_symlink(folder.file("file"), folder.file("link"));
  EXPECT_TRUE(open_regular(folder.file("link").c_str()).is_open());
  EXPECT_FALSE(open_regular(folder.file("link").c_str(), O_NOFOLLOW).is_open());
}

TEST(ReadWhole, EndsAtItsBound) {
  const TemporaryFolder folder;
  write_file(folder.file("file"), std::string(5000, 'x'));
  std::string text;
  EXPECT_TRUE(read_whole(open_regular(folder.file("file").c_str()), 5000, text));
  EXPECT_EQ(text.size(), 5000U);
  EXPECT_FALSE(read_whole(open_regular(folder.file("file").c_str()), 4999, text));
  EXPECT_EQ(read_small_file(folder.file("file"), 4999), "");
  ASSERT_EQ(truncate(folder.file("file").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(read_small_file(folder.file("file")), "");
}

TEST(WhyNotTrusted, NamesOwnersAndRightsOfOthers) {
  struct stat status {};
  status.st_mode = S_IFDIR | 0755;
  status.st_uid = status.st_gid = geteuid();
  EXPECT_EQ(why_not_trusted(status), "");
  status.st_mode = S_IFDIR | 02775;
  status.st_gid = geteuid() + 1;
  EXPECT_EQ(why_not_trusted(status), "") << "git trusts the group of the owner's file, too";
  status.st_mode = S_IFDIR | 0757;
  EXPECT_EQ(why_not_trusted(status), "can be written by other users");
  status.st_mode = S_IFDIR | 0700;
  status.st_uid = 0;
  EXPECT_EQ(why_not_trusted(status), "");
  status.st_uid = geteuid() + 17;
  EXPECT_EQ(why_not_trusted(status), "belongs to another user (id " + std::to_string(status.st_uid) + ")");
}

TEST(Replacement, LeavesTheOldFileUntilItIsWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file");
  write_file(path, "old");
  {
    Replacement replacement;
    ASSERT_EQ(replacement.begin(path, 0640), 0);
    ASSERT_EQ(replacement.write("new"), 0);
    EXPECT_EQ(read_file(path), "old");
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "something is left";
  Replacement replacement;
  ASSERT_EQ(replacement.begin(path, 0640), 0);
  ASSERT_EQ(replacement.write("new"), 0);
  ASSERT_EQ(replacement.finish(), 0);
  EXPECT_EQ(read_file(path), "new");
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  Replacement nowhere;
  EXPECT_EQ(nowhere.begin(folder.file("none/file"), 0640), ENOENT);
  Replacement to_null;
  ASSERT_EQ(to_null.begin("/dev/null", 0640), 0);
  EXPECT_EQ(to_null.write("new"), 0);
  EXPECT_EQ(to_null.finish(), 0);
}

TEST(OwnFolder, IsForItsUserAlone) {
  const TemporaryFolder folder;
  const std::string made = make_own_folder(folder.file("syscost-x."));
  struct stat status {};
  ASSERT_EQ(lstat(made.c_str(), &status), 0) << made;
  EXPECT_EQ(status.st_mode & 07777, 0700U);
  EXPECT_EQ(make_own_folder(folder.file("none/x")), "");
  EXPECT_EQ(errno, ENOENT);
}

// A process names itself.
TEST(LockHolder, IsShownWithoutWhatItsNameWouldDoToATerminal) {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "");
  std::array<int, 2> is_locked{};
  std::array<int, 2> may_end{};
  ASSERT_EQ(pipe(is_locked.data()), 0);
  ASSERT_EQ(pipe(may_end.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NAME, "\x1b[31mP\x1b]0;x\a\n");
    char byte = 0;
    const int file = open(folder.file("file").c_str(), O_RDONLY);
    if (flock(file, LOCK_EX) == 0 && write(is_locked[1], "x", 1) == 1) {
      close(may_end[1]);
      static_cast<void>(!read(may_end[0], &byte, 1));
    }
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(is_locked[0], &byte, 1), 1);
  const Descriptor file = open_regular(folder.file("file").c_str());
  const std::string holder = lock_holder(file.number());
  close(may_end[1]);
  waitpid(child, nullptr, 0);
  for (const int fd : {is_locked[0], is_locked[1], may_end[0]}) close(fd);
  if (holder.empty()) GTEST_SKIP() << "/proc/locks does not show locks here";
  EXPECT_EQ(holder, " (process " + std::to_string(child) + ", \\x1b[31mP\\x1b]0;x\\x07)");
}

}  // namespace
}  // namespace syscost
