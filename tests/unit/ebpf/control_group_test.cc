// SPDX-License-Identifier: MIT
//
// Which control group a process is in, and how much memory it has there, by files of both versions.
#include "backends/ebpf/helper/shares.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace syscost::ebpf {
namespace {

class ControlGroupTest : public testing::Test {
 protected:
  ControlGroupTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "syscost-groups-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  ~ControlGroupTest() override { std::filesystem::remove_all(root_); }

  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text;
  }
  void groups(const std::string& lines) const { file("/proc/thread-self/cgroup", lines); }
  std::uint64_t group_of(const std::string& lines) const {
    groups(lines);
    return own_surroundings(root_);
  }
  std::optional<std::uint64_t> limit() const { return own_memory_limit(root_); }

  std::string root_;
};

TEST_F(ControlGroupTest, IsKnownByItsPathInEachHierarchy) {
  const std::uint64_t first = group_of("0::/user.slice/session-1.scope\n");
  EXPECT_NE(first, 0U);
  EXPECT_EQ(group_of("0::/user.slice/session-1.scope\n"), first);
  EXPECT_NE(group_of("0::/user.slice/session-2.scope\n"), first);
  const std::uint64_t of_both = group_of("4:memory:/a\n3:freezer:/b\n0::/\n");
  EXPECT_NE(group_of("4:memory:/a\n3:freezer:/c\n0::/\n"), of_both);
  EXPECT_NE(group_of("4:memory:/c\n3:freezer:/b\n0::/\n"), of_both);
}

TEST_F(ControlGroupTest, OfTheSamePathInAnotherNamespaceIsAnother) {
  for (const std::string name_space : {"cgroup", "pid", "user"}) {
    const std::string path = "/proc/self/ns/" + name_space;
    file(path, "");
    const std::uint64_t first = group_of("0::/\n");
    std::filesystem::rename(root_ + path, root_ + "/kept-" + name_space);  // so that its inode is not used again
    file(path, "");
    EXPECT_NE(group_of("0::/\n"), first) << name_space;
  }
}

TEST_F(ControlGroupTest, IsNotKnownWithoutProc) {
  EXPECT_EQ(own_surroundings(root_), 0U);
  EXPECT_EQ(limit(), std::nullopt);
}

TEST_F(ControlGroupTest, OfThisProcessIsTheSameEachTime) {
  EXPECT_EQ(own_surroundings(), own_surroundings());
}

TEST_F(ControlGroupTest, HasTheLeastLimitOfTheGroupsAboveIt) {
  groups("0::/a/b/c\n");
  EXPECT_EQ(limit(), std::nullopt);
  file("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
  file("/sys/fs/cgroup/a/b/c/memory.high", "max\n");
  EXPECT_EQ(limit(), std::nullopt);
  file("/sys/fs/cgroup/a/b/memory.max", "3000\n");
  EXPECT_EQ(limit(), 3000U);
  file("/sys/fs/cgroup/a/memory.high", "2000\n");
  EXPECT_EQ(limit(), 2000U);
  file("/sys/fs/cgroup/memory.max", "1000\n");  // a container's, whose root is its own group
  EXPECT_EQ(limit(), 1000U);
}

TEST_F(ControlGroupTest, HasALimitOfTheFirstVersionToo) {
  groups("9:name=systemd:/\n4:cpu,memory:/a/b\n3:memoryless:/x\n0::/\n");
  file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  file("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(limit(), 9223372036854771712U) << "no limit, but a number";
  file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "125829120\n");
  EXPECT_EQ(limit(), 125829120U);
}

TEST_F(ControlGroupTest, NonsenseIsNoLimit) {
  for (const char* lines : {"", "\n", "0\n", "0:\n", "0::\n", "0::a\n", ":::::\n", "4:memory:\n"}) {
    groups(lines);
    EXPECT_EQ(limit(), std::nullopt) << lines;
  }
}

}  // namespace
}  // namespace syscost::ebpf
