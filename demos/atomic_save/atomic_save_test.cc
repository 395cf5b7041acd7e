// SPDX-License-Identifier: MIT
//
// Ordinary tests of saving settings, which every version passes; and the same versions with power cuts.
#include <gtest/gtest.h>
#include <syscost/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>

#include "settings.h"

namespace {

using Save = bool (*)(const std::string& path, const std::string& text);

struct Version {
  const char* name;
  Save save;
};
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for it
void PrintTo(const Version& version, std::ostream* out) {
  *out << version.name;
}
constexpr Version kVersions[] = {
    {"Unchecked", settings::save_unchecked},
    {"WithoutFsync", settings::save_without_fsync},
    {"RenameFirst", settings::save_rename_first},
    {"Mended", settings::save},
};

class Settings : public testing::TestWithParam<Version> {
 protected:
  // In a sweep these fail, too.
  void SetUp() override {
    std::string folder = std::filesystem::temp_directory_path() / "settings-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr) << std::strerror(errno);
    folder_ = folder;
  }
  void TearDown() override {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
    EXPECT_FALSE(error) << folder_ << ": " << error.message();
  }

  static bool save(const std::string& path, const std::string& text) { return GetParam().save(path, text); }

  std::string folder_;
};
using PowerCut = Settings;

TEST_P(Settings, AreLoadedAsTheyWereSaved) {
  const std::string path = folder_ + "/settings";
  ASSERT_TRUE(save(path, "colour=red\n"));
  EXPECT_EQ(settings::load(path), "colour=red\n");
  ASSERT_TRUE(save(path, "colour=blue\n"));
  EXPECT_EQ(settings::load(path), "colour=blue\n");
}

TEST_P(Settings, LeaveNoOtherFile) {
  ASSERT_TRUE(save(folder_ + "/settings", "colour=red\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/settings.tmp"));
}

TEST_P(PowerCut, LeavesTheOldSettingsOrTheNewOnes) {
  ASSERT_TRUE(settings::save(folder_ + "/settings", "colour=red\n"));
  EXPECT_CRASH_SAFE(
      folder_,
      [&] {
        if (save(folder_ + "/settings", "colour=blue\n")) syscost::crash_mark("saved");
      },
      [](const syscost::CrashPoint& point) {
        const std::string text = settings::load(point.path + "/settings");
        if (point.has_passed("saved")) {
          EXPECT_EQ(text, "colour=blue\n");
        } else {
          EXPECT_TRUE(text == "colour=red\n" || text == "colour=blue\n") << "settings: \"" << text << '"';
        }
      });
}

std::string name_of(const testing::TestParamInfo<Version>& version) {
  return version.param.name;
}
INSTANTIATE_TEST_SUITE_P(Save, Settings, testing::ValuesIn(kVersions), name_of);
INSTANTIATE_TEST_SUITE_P(Save, PowerCut, testing::ValuesIn(kVersions), name_of);

}  // namespace
