// SPDX-License-Identifier: MIT
#include "faults/folder_scan.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "os/small_file.h"

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

/// Empty if `folder` cannot be read.
std::vector<fs::path> names_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    paths.push_back(entry->path());
  }
  return paths;
}

/// `changed: a/b` as `a/b`.
std::string_view path_in(std::string_view line) {
  return line.substr(line.find(' ') + 1);
}

/// A digit in the place of each number.
std::string without_numbers(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || result.empty() || result.back() != '0') result += is_digit ? '0' : c;
  }
  return result;
}

bool is_known(std::string_view line, std::string_view known) {
  constexpr std::string_view kMade = "made: ";
  const std::string_view path = path_in(known);
  if (path_in(line) == path) return true;
  if (path.ends_with('/') && !known.starts_with("changed: ") && path_in(line).starts_with(path)) return true;
  return line.starts_with(kMade) && known.starts_with(kMade) && without_numbers(line) == without_numbers(known);
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

std::set<FileId> files_open_for_writing() {
  std::set<FileId> files;
  for (const fs::path& process : names_below("/proc")) {
    if (process.filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    for (const fs::path& descriptor : names_below(process / "fd")) {
      struct stat status {};
      if (::stat(descriptor.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
      const std::string info = read_small_file(process / "fdinfo" / descriptor.filename());
      unsigned flags = 0;
      const bool is_known = std::sscanf(info.c_str(), "pos: %*s flags: %o", &flags) == 1;
      if (is_known && (flags & O_ACCMODE) != O_RDONLY) files.emplace(status.st_dev, status.st_ino);
    }
  }
  return files;
}

void leave_out(const std::set<FileId>& files, FolderScan& before, FolderScan& after) {
  std::erase_if(after.entries, [&](const auto& entry) {
    const bool is_left_out = files.count({entry.second.st_dev, entry.second.st_ino}) != 0;
    if (is_left_out) before.entries.erase(entry.first);
    return is_left_out;
  });
}

std::vector<std::string> without_known(std::vector<std::string> lines, const std::vector<std::string>& known) {
  std::erase_if(lines, [&](const std::string& line) {
    return std::any_of(known.begin(), known.end(), [&](const std::string& other) { return is_known(line, other); });
  });
  return lines;
}

}  // namespace syscost::bench::faults
