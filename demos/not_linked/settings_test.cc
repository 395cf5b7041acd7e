// SPDX-License-Identifier: MIT
//
// Tests that say nothing of syscost, and are not linked with it. README.md measures the programs that they are in.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "settings.h"

namespace {

constexpr int kKeys = 50;

std::string key(int i) {
  return "key" + std::to_string(i);
}

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "not_linked_" + std::to_string(getpid());
    ASSERT_TRUE(mkdir(folder_.c_str(), S_IRWXU) == 0 || errno == EEXIST) << folder_;
    path_ = folder_ + "/settings";
    std::map<std::string, std::string> lines;
    for (int i = 0; i < kKeys; ++i) lines[key(i)] = std::to_string(i);
    ASSERT_TRUE(demo::write_lines(path_, lines));
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }

  std::string folder_, path_;
};

TEST_F(SettingsTest, KnowsEachKey) {
  const demo::Settings settings(path_);
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(settings.value(key(i)), std::to_string(i));
}

TEST_F(SettingsTest, KeepsWhatIsSet) {
  demo::Settings settings(path_);
  ASSERT_TRUE(settings.set("colour", "blue"));
  EXPECT_EQ(demo::Settings(path_).value("colour"), "blue");
}

}  // namespace
