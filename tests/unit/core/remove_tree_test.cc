// SPDX-License-Identifier: MIT
//
// Folders that are removed with what lies in them, and not with what is mounted there.
#include "os/temporary_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>

#include "csv/temporary_folder.h"

namespace syscost {
namespace {

namespace fs = std::filesystem;

/// `tree`, which is removed, and `kept`, which belongs to someone else.
class RemoveTree : public ::testing::Test {
 protected:
  RemoveTree() {
    fs::create_directories(tree_ + "/a/b");
    fs::create_directories(kept_ + "/sub");
    testing::write_file(kept_ + "/data", "important");
    testing::write_file(kept_ + "/sub/more", "important");
  }

  void expect_kept() const {
    EXPECT_EQ(testing::read_file(kept_ + "/data"), "important");
    EXPECT_EQ(testing::read_file(kept_ + "/sub/more"), "important");
  }

  testing::TemporaryFolder folder_;
  std::string tree_ = folder_.file("tree");
  std::string kept_ = folder_.file("kept");
};

/// Runs `body` in a process that has mounts of its own. Returns its text; "skip" where none can be made.
std::string with_own_mounts(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const bool has_mounts = (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                            mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    const std::string text = has_mounts ? body() : "skip";
    _exit(write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

#define SYSCOST_SKIP_WITHOUT_MOUNTS(text) \
  if ((text) == "skip") GTEST_SKIP() << "no mount namespace can be made; run it as root"

bool bind_mount(const std::string& from, const std::string& to) {
  return mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

TEST_F(RemoveTree, RemovesFilesFoldersAndLinksAndFollowsNone) {
  testing::write_file(tree_ + "/a/b/file", "x");
  fs::create_directory_symlink(kept_, tree_ + "/a/link");
  fs::create_symlink("nowhere", tree_ + "/dangling");
  ASSERT_EQ(mkfifo((tree_ + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(text_of(remove_tree(tree_)), "");
  EXPECT_FALSE(fs::exists(tree_));
  expect_kept();
}

TEST_F(RemoveTree, RemovesALinkItselfAndAFile) {
  const std::string link = folder_.file("link");
  fs::create_directory_symlink(kept_, link);
  EXPECT_EQ(text_of(remove_tree(link)), "");
  EXPECT_FALSE(fs::exists(fs::symlink_status(link)));
  testing::write_file(folder_.file("file"), "x");
  EXPECT_EQ(text_of(remove_tree(folder_.file("file"))), "");
  EXPECT_EQ(text_of(remove_tree(folder_.file("not there"))), "");
  EXPECT_EQ(text_of(remove_tree(folder_.file("not/there"))), "");
  expect_kept();
}

TEST_F(RemoveTree, RemovesFoldersWithoutPermissions) {
  testing::write_file(tree_ + "/a/b/file", "x");
  fs::permissions(tree_ + "/a/b", fs::perms::none);
  fs::permissions(tree_ + "/a", fs::perms::none);
  fs::permissions(tree_, fs::perms::none);
  EXPECT_EQ(text_of(remove_tree(tree_ + "/")), "");
  EXPECT_FALSE(fs::exists(tree_));
}

TEST_F(RemoveTree, KeepsTheFolderItselfIfAsked) {
  testing::write_file(tree_ + "/a/b/file", "x");
  EXPECT_EQ(text_of(remove_below(tree_)), "");
  EXPECT_TRUE(fs::is_empty(tree_));
}

TEST_F(RemoveTree, NeedsNoDescriptorForEachLevel) {
  const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(chdir(tree_.c_str()), 0);
  for (int depth = 0; depth < 200; ++depth) {
    ASSERT_EQ(mkdir("deeper", 0700), 0);
    ASSERT_EQ(chdir("deeper"), 0);
  }
  ASSERT_EQ(fchdir(here), 0);
  close(here);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{std::min<rlim_t>(before.rlim_cur, 64), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  EXPECT_EQ(text_of(remove_tree(tree_)), "");
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(fs::exists(tree_));
}

TEST_F(RemoveTree, LeavesWhatIsMountedInItAndNamesIt) {
  testing::write_file(tree_ + "/a/file", "x");
  testing::write_file(tree_ + "/a/covered", "x");
  const std::string text = with_own_mounts([&]() -> std::string {
    if (!bind_mount(kept_, tree_ + "/a/b") || !bind_mount(kept_ + "/data", tree_ + "/a/covered")) return "skip";
    return text_of(remove_tree(tree_));
  });
  SYSCOST_SKIP_WITHOUT_MOUNTS(text);
  EXPECT_EQ(text, tree_ + "/a/covered: another file system is mounted there; " + tree_ +
                      "/a/b: another file system is mounted there");
  EXPECT_FALSE(fs::exists(tree_ + "/a/file")) << "what is ours goes";
  expect_kept();
}

TEST_F(RemoveTree, LeavesWhatIsMountedOverTheFolderItself) {
  const std::string text = with_own_mounts([&]() -> std::string {
    return bind_mount(kept_, tree_) ? text_of(remove_tree(tree_)) + '|' + text_of(remove_below(tree_)) : "skip";
  });
  SYSCOST_SKIP_WITHOUT_MOUNTS(text);
  const std::string one = tree_ + ": another file system is mounted there";
  EXPECT_EQ(text, one + '|' + one);
  expect_kept();
}

TEST_F(RemoveTree, RemovesAMountPointOfAnotherNamespace) {
  const std::string text = with_own_mounts([&]() -> std::string {
    if (!bind_mount(kept_, tree_ + "/a/b")) return "skip";
    // The mount is in the child's namespace; the parent's has none.
    return std::to_string(fs::exists(tree_ + "/a/b/data") ? 1 : 0);
  });
  SYSCOST_SKIP_WITHOUT_MOUNTS(text);
  EXPECT_EQ(text, "1");
  EXPECT_EQ(text_of(remove_tree(tree_)), "");
  expect_kept();
}

/// As under gVisor: no number of a mount, neither by statx() nor in /proc.
bool hide_mount_numbers() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return mount("none", "/proc", "tmpfs", 0, nullptr) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(RemoveTree, GoesByTheDeviceWhereTheKernelHasNoNumbersForMounts) {
  testing::write_file(tree_ + "/a/file", "x");
  const std::string text = with_own_mounts([&]() -> std::string {
    if (mount("none", (tree_ + "/a/b").c_str(), "tmpfs", 0, nullptr) != 0 || !hide_mount_numbers()) return "skip";
    std::string left = text_of(remove_tree(tree_));
    umount((tree_ + "/a/b").c_str());
    return left + '|' + text_of(remove_tree(tree_));
  });
  SYSCOST_SKIP_WITHOUT_MOUNTS(text);
  EXPECT_EQ(text, tree_ + "/a/b: another file system is mounted there|");
  EXPECT_FALSE(fs::exists(tree_));
}

TEST_F(RemoveTree, TellsTheMountOfAFileInTwoWays) {
  const int file = open(tree_.c_str(), O_PATH | O_CLOEXEC);
  const std::optional<std::uint64_t> by_proc = mount_by_proc(file);
  const std::optional<std::uint64_t> by_statx = mount_by_statx(file);
  close(file);
  ASSERT_TRUE(by_proc);
  if (!by_statx) GTEST_SKIP() << "needs Linux 5.8";
  EXPECT_EQ(*by_proc, *by_statx);
}

}  // namespace
}  // namespace syscost
