// SPDX-License-Identifier: MIT
#include "faults/folder_scan.h"

#include <algorithm>
#include <system_error>

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;

bool is_equal(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool is_changed(const struct stat& before, const struct stat& after) {
  if (before.st_ino != after.st_ino || before.st_mode != after.st_mode || before.st_uid != after.st_uid ||
      before.st_gid != after.st_gid) {
    return true;
  }
  if (S_ISDIR(before.st_mode)) return false;
  return before.st_size != after.st_size || !is_equal(before.st_mtim, after.st_mtim) ||
         !is_equal(before.st_ctim, after.st_ctim);
}

/// True if `path` lies in a folder of `folders`.
bool is_below(const fs::path& path, const std::vector<fs::path>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
  });
}

}  // namespace

FolderScan scan_folder(const fs::path& folder, std::size_t most, const std::vector<FileId>& left_out) {
  FolderScan scan;
  std::vector<fs::path> folders = {{}};
  while (!folders.empty()) {
    const fs::path below = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    fs::directory_iterator entry(folder / below, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      struct stat status {};
      if (::lstat(entry->path().c_str(), &status) != 0) continue;
      const FileId id{status.st_dev, status.st_ino};
      if (std::find(left_out.begin(), left_out.end(), id) != left_out.end()) continue;
      if (scan.entries.size() == most) {
        scan.is_whole = false;
        return scan;
      }
      const fs::path path = below / entry->path().filename();
      scan.entries.emplace(path, status);
      if (S_ISDIR(status.st_mode)) folders.push_back(path);
    }
  }
  return scan;
}

std::vector<std::string> differences(const FolderScan& before, const FolderScan& after) {
  std::vector<std::string> lines;
  std::vector<fs::path> whole;  // folders of which all has been said
  const auto say = [&](const char* what, const fs::path& path, const struct stat& status) {
    if (is_below(path, whole)) return;
    const bool is_folder = S_ISDIR(status.st_mode);
    if (is_folder && what != std::string_view("changed")) whole.push_back(path);
    lines.push_back(std::string(what) + ": " + path.string() + (is_folder ? "/" : ""));
  };
  auto old = before.entries.begin();
  auto now = after.entries.begin();
  while (old != before.entries.end() || now != after.entries.end()) {
    if (now == after.entries.end() || (old != before.entries.end() && old->first < now->first)) {
      say("removed", old->first, old->second);
      ++old;
    } else if (old == before.entries.end() || now->first < old->first) {
      say("made", now->first, now->second);
      ++now;
    } else {
      if (is_changed(old->second, now->second)) say("changed", now->first, now->second);
      ++old;
      ++now;
    }
  }
  return lines;
}

}  // namespace syscost::bench::faults
