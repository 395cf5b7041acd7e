// SPDX-License-Identifier: MIT
#include "os/paths.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

namespace syscost {
namespace {

/// The kind of file that `path` leads to; 0 if it leads to none.
mode_t kind_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

}  // namespace

bool exists(const std::string& path) {
  return kind_of(path) != 0;
}

bool is_folder(const std::string& path) {
  return kind_of(path) == S_IFDIR;
}

bool is_regular_file(const std::string& path) {
  return kind_of(path) == S_IFREG;
}

std::string absolute_path(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  std::array<char, PATH_MAX> folder{};
  if (getcwd(folder.data(), folder.size()) == nullptr) return {};
  return (std::filesystem::path(folder.data()) / path).string();
}

std::string read_link(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::string without_links(const std::string& path) {
  std::filesystem::path there = absolute_path(path);
  std::filesystem::path rest;
  std::array<char, PATH_MAX> real{};
  while (realpath(there.c_str(), real.data()) == nullptr) {
    if ((errno != ENOENT && errno != ENOTDIR) || !there.has_relative_path()) return {};
    rest = rest.empty() ? there.filename() : there.filename() / rest;
    there = there.parent_path();
  }
  return (std::filesystem::path(real.data()) / rest).lexically_normal().string();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  while (const dirent* const entry = open != nullptr ? readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

int make_folders(const std::string& path) {
  if (is_folder(path)) return 0;
  const std::string above = std::filesystem::path(path).parent_path().string();
  if (!above.empty() && above != path) {
    if (const int error = make_folders(above); error != 0) return error;
  }
  constexpr mode_t kAll = 0777;  // without what the umask takes away
  if (mkdir(path.c_str(), kAll) == 0 || (errno == EEXIST && is_folder(path))) return 0;
  return errno;
}

}  // namespace syscost
