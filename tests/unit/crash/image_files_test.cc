// SPDX-License-Identifier: MIT
//
// Files to an image and back.
#include "extras/crash/states/image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "extras/crash/states/trials.h"

namespace syscost::crash {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMost = 1 << 20;

void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path) << text;
}

TEST(ImageFiles, AreWrittenAsTheyWereRead) {
  const Result<ScratchFolder> scratch = ScratchFolder::make();
  ASSERT_TRUE(scratch.ok()) << scratch.failure().reason;
  const std::string from = scratch.value().path() + "/from";
  fs::create_directories(from + "/d/e");
  write_text(from + "/a", "content");
  write_text(from + "/d/empty", "");
  write_text(from + "/d/e/b", std::string(100'000, 'b'));
  fs::create_hard_link(from + "/a", from + "/d/linked");
  fs::create_symlink("../a", from + "/d/symbolic");
  ASSERT_EQ(chmod((from + "/a").c_str(), 0640), 0);

  Result<Snapshot> snapshot = read_files(from, kMost);
  ASSERT_TRUE(snapshot.ok()) << snapshot.failure().reason;
  const Image& image = snapshot.value().image;
  EXPECT_EQ(find(image, "a"), find(image, "d/linked"));
  EXPECT_EQ(image.inodes[find(image, "a")].content(), "content");
  struct stat status {};
  ASSERT_EQ(stat((from + "/a").c_str(), &status), 0);
  EXPECT_EQ((snapshot.value().nodes.at({status.st_dev, status.st_ino})), find(image, "a"));

  const std::string copy = scratch.value().path() + "/copy";
  const Result<void> written = write_files(image, copy);
  ASSERT_TRUE(written.ok()) << written.failure().reason;
  const Result<Snapshot> again = read_files(copy, kMost);
  ASSERT_TRUE(again.ok());
  Digester digester;
  EXPECT_TRUE(digester.digest(image) == digester.digest(again.value().image));
  ASSERT_EQ(stat((copy + "/a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(ImageFiles, AreRefusedIfTheyCannotBeCopied) {
  const Result<ScratchFolder> scratch = ScratchFolder::make();
  ASSERT_TRUE(scratch.ok());
  const std::string& path = scratch.value().path();
  EXPECT_FALSE(read_files(path + "/none", kMost).ok());
  write_text(path + "/large", std::string(2000, 'x'));
  EXPECT_FALSE(read_files(path, 1000).ok());
  EXPECT_TRUE(read_files(path, 2000).ok());
  ASSERT_EQ(mkfifo((path + "/pipe").c_str(), 0600), 0);
  const Result<Snapshot> with_pipe = read_files(path, kMost);
  ASSERT_FALSE(with_pipe.ok());
  EXPECT_NE(with_pipe.failure().reason.find("/pipe is neither"), std::string::npos);
}

TEST(ImageFiles, TheScratchFolderIsPrivateAndGoes) {
  std::string path;
  {
    const Result<ScratchFolder> scratch = ScratchFolder::make();
    ASSERT_TRUE(scratch.ok());
    path = scratch.value().path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    fs::create_directories(path + "/a/b");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ImageFiles, AScratchFolderOfAProcessThatWasKilledGoesWithTheNext) {
  const Result<ScratchFolder> outer = ScratchFolder::make();
  ASSERT_TRUE(outer.ok());
  ASSERT_EQ(setenv("TMPDIR", outer.value().path().c_str(), 1), 0);
  const auto folders = [&] {
    return std::distance(fs::directory_iterator(outer.value().path()), fs::directory_iterator());
  };
  fs::create_directory(outer.value().path() + "/syscost-crash-shared");  // others may enter it
  const pid_t child = fork();
  if (child == 0) {
    const Result<ScratchFolder> left = ScratchFolder::make();
    fs::create_directory(left.value().path() + "/state");
    _exit(left.ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folders(), 2);
  {
    const Result<ScratchFolder> one = ScratchFolder::make();
    EXPECT_EQ(folders(), 2) << "the next run removes it";
    const Result<ScratchFolder> two = ScratchFolder::make();
    EXPECT_EQ(folders(), 3) << "and not one in use";
  }
  EXPECT_EQ(folders(), 1);
  unsetenv("TMPDIR");
}

TEST(ImageFiles, AScratchFolderTellsWhatItDoesNotRemove) {
  const Result<ScratchFolder> outer = ScratchFolder::make();
  ASSERT_TRUE(outer.ok());
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(2);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(2);
    setenv("TMPDIR", outer.value().path().c_str(), 1);
    std::string told;
    std::string path;
    {
      const Result<ScratchFolder> scratch = ScratchFolder::make([&](const std::string& line) { told += line; });
      path = scratch.value().path();
      fs::create_directory(path + "/mounted");
      if (mount("none", (path + "/mounted").c_str(), "tmpfs", 0, nullptr) != 0) _exit(2);
      scratch.value().clear();
    }
    const std::string whole =
        "the states of a power cut are not all removed: " + path + "/mounted: another file system is mounted there";
    bool is_told = told == whole;
    told.clear();
    static_cast<void>(ScratchFolder::make([&](const std::string& line) { told += line; }));
    is_told = is_told && told == whole;
    _exit(is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no mount namespace can be made; run it as root";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace syscost::crash
