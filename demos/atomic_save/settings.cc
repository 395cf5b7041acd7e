// SPDX-License-Identifier: MIT
#include "settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

namespace settings {
namespace {

constexpr mode_t kMode = 0644;

int open_new(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// So that a new name in the directory of `path` is on the disk.
bool sync_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int folder = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const bool is_synced = fsync(folder) == 0;
  close(folder);
  return is_synced;
}

}  // namespace

std::string load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool save_unchecked(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int file = open_new(temporary);
  if (file < 0) return false;
  static_cast<void>(!write(file, text.data(), text.size()));
  fsync(file);
  close(file);
  return rename(temporary.c_str(), path.c_str()) == 0 && sync_directory(path);
}

bool save_without_fsync(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int file = open_new(temporary);
  if (file < 0) return false;
  const bool is_written = write_all(file, text);
  const bool is_closed = close(file) == 0;
  return is_written && is_closed && rename(temporary.c_str(), path.c_str()) == 0 && sync_directory(path);
}

bool save_rename_first(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int file = open_new(temporary);
  if (file < 0) return false;
  const bool is_written = write_all(file, text);
  const bool is_renamed = is_written && rename(temporary.c_str(), path.c_str()) == 0;
  const bool is_synced = is_renamed && fsync(file) == 0;
  const bool is_closed = close(file) == 0;
  return is_synced && is_closed && sync_directory(path);
}

bool save(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int file = open_new(temporary);
  if (file < 0) return false;
  const bool is_written = write_all(file, text) && fsync(file) == 0;
  const bool is_closed = close(file) == 0;
  return is_written && is_closed && rename(temporary.c_str(), path.c_str()) == 0 && sync_directory(path);
}

}  // namespace settings
