// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "form.h"

namespace directions {
namespace {

/// Files that tests read are made here, before the first window.
class Folder : public testing::Environment {
 public:
  void SetUp() override {
    // Where it can be, in memory: tests sync a lot.
    name_ = access("/dev/shm", W_OK) == 0 ? "/dev/shm/syscost-directions-XXXXXX" : "/tmp/syscost-directions-XXXXXX";
    if (mkdtemp(name_.data()) == nullptr || chdir(name_.c_str()) != 0) std::abort();
    make_file("large", 1 << 20);
    for (int i = 0; i < 8; ++i) make_file(("part" + std::to_string(i)).c_str(), 100);
    std::filesystem::create_directory("tree");
    for (int i = 0; i < 12; ++i) make_file(("tree/leaf" + std::to_string(i)).c_str(), 10);
  }
  void TearDown() override {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(name_);
  }

 private:
  std::string name_;
};

}  // namespace

bool is_new() {
  static const bool is = std::getenv("DIRECTIONS_FORM") == std::string("new");
  return is;
}

void make_file(const char* name, std::size_t size) {
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  write_all(file, std::string(size, 'x'));
  close(file);
}

void write_all(int file, std::string_view text) {
  if (write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

}  // namespace directions

int main(int argc, char** argv) {
  const char* form = std::getenv("DIRECTIONS_FORM");
  if (form == nullptr || (form != std::string("old") && form != std::string("new"))) return 2;
  directions::is_new();
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new directions::Folder);  // GoogleTest deletes it
  return RUN_ALL_TESTS();
}
