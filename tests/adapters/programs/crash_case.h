// SPDX-License-Identifier: MIT
//
// The common parts of tests of power cuts: a directory, and the texts that a file in it can have after one.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

#include "syscost/crash.h"
#include "syscost/gtest.h"

namespace adapter_tests {

inline std::string load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Crashes : public testing::Test {
 protected:
  Crashes() {
    std::string folder = std::filesystem::temp_directory_path() / "crashes-XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~Crashes() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }

  /// A file that is there before the body.
  void has(const std::string& name, const std::string& text) const { std::ofstream(at(name)) << text; }

  /// The texts that file `name` can have when the body has ended; "-" = it is not there.
  std::set<std::string> texts(const std::string& name, const std::function<void()>& body,
                              const syscost::CrashOptions& options = {}) {
    std::set<std::string> found;
    report_ = syscost::for_each_crash(
        folder_, body,
        [&](const syscost::CrashPoint& point) {
          const std::string path = point.path + "/" + name;
          if (point.is_finished) found.insert(std::filesystem::exists(path) ? load(path) : "-");
        },
        options);
    EXPECT_EQ(report_.failures(), 0) << report_;
    return found;
  }
  std::string why_not(const std::function<void()>& body, const syscost::CrashOptions& options = {}) {
    const syscost::CrashReport report = syscost::for_each_crash(
        folder_, body, [](const syscost::CrashPoint&) {}, options);
    return report.why != nullptr ? report.why->reason : "";
  }

  int open_file(const std::string& name, int flags = O_RDWR | O_CREAT) const {
    return open(at(name).c_str(), flags | O_CLOEXEC, 0600);
  }
  /// Makes what a file holds, and its name, sure.
  void sync_all(int file) const {
    fsync(file);
    const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fsync(folder);
    close(folder);
  }

  std::string folder_;
  syscost::CrashReport report_;
};

using Texts = std::set<std::string>;

}  // namespace adapter_tests
