// SPDX-License-Identifier: MIT
#include "faults/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/files.h"

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

namespace {

namespace fs = std::filesystem;
using Gets = WorkingPlan::Gets;

std::string fault_of(const fs::path& path, const std::error_code& error) {
  return error ? fmt::format("{}: {}", path.string(), error.message()) : "";
}

/// The entries of the working directory itself, those with most below them first, that have to go so that at most
/// `most` entries are left.
std::set<fs::path> too_many_below(const FolderScan& scan, std::size_t most) {
  std::map<fs::path, std::size_t> below;
  for (const auto& [path, status] : scan.entries) ++below[*path.begin()];
  std::vector<std::pair<std::size_t, fs::path>> order;
  for (const auto& [path, count] : below) order.emplace_back(count, path);
  std::sort(order.rbegin(), order.rend());
  std::set<fs::path> chosen;
  std::size_t left = scan.entries.size();
  for (const auto& [count, path] : order) {
    if (left <= most || count == 1) break;
    chosen.insert(path);
    left -= count;
  }
  return chosen;
}

/// The largest files, which are too many bytes beside the others.
std::set<fs::path> too_large(const FolderScan& scan, const std::set<fs::path>& linked, std::uint64_t most) {
  std::vector<std::pair<std::uint64_t, fs::path>> files;
  for (const auto& [path, status] : scan.entries) {
    if (!S_ISREG(status.st_mode) || linked.count(*path.begin()) != 0) continue;
    files.emplace_back(static_cast<std::uint64_t>(status.st_size), path);
  }
  std::sort(files.begin(), files.end());
  std::set<fs::path> chosen;
  std::uint64_t sum = 0;
  for (auto& [size, path] : files) {
    sum += std::min(size, most + 1);
    if (sum > most) chosen.insert(std::move(path));
  }
  return chosen;
}

/// Copies a link so that it leads to the same file: into the new folder where it led into the old one.
void copy_link(const fs::path& ours, const fs::path& path, const fs::path& made, std::error_code& error) {
  const fs::path target = fs::read_symlink(ours / path, error);
  if (error) return;
  const fs::path led = (target.is_absolute() ? target : ours / path.parent_path() / target).lexically_normal();
  const auto leaves = [](const fs::path& relative) { return relative.empty() || *relative.begin() == ".."; };
  const fs::path below = led.lexically_relative(ours);
  const bool stays = !target.is_absolute() && !leaves((path.parent_path() / target).lexically_normal());
  const fs::path now = stays ? target : leaves(below) ? led : made / below;
  fs::create_symlink(now, made / path, error);
}

/// One that cannot be read is linked.
void copy_regular(const fs::path& from, const fs::path& to, std::error_code& error) {
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) error.assign(errno, std::generic_category());
  if (!error) fs::copy_file(from, to, error);
  if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted) {
    error.clear();
    fs::create_symlink(from, to, error);
    return;
  }
  const std::array<timespec, 2> times = {status.st_atim, status.st_mtim};
  if (!error) ::utimensat(AT_FDCWD, to.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
}

/// True for what a run took away, or the folder of it, after the plan was made: later runs go without it. That it was
/// removed is told with the other changes of the folder.
bool is_gone(const fs::path& path) {
  struct stat unused {};
  return ::lstat(path.c_str(), &unused) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

std::string make_parts(const WorkingPlan& plan, const fs::path& ours, const fs::path& made) {
  std::vector<std::pair<fs::path, fs::perms>> folders;
  for (const WorkingPlan::Part& part : plan.parts) {
    const fs::path from = ours / part.path;
    const fs::path to = made / part.path;
    std::error_code error;
    if (part.gets == Gets::link) {
      fs::create_symlink(from, to, error);
    } else if (part.gets == Gets::folder) {
      fs::create_directory(to, error);
      std::error_code unknown;
      folders.emplace_back(to, fs::symlink_status(from, unknown).permissions());
    } else if (fs::is_symlink(fs::symlink_status(from, error))) {
      copy_link(ours, part.path, made, error);
    } else {
      copy_regular(from, to, error);
    }
    if (error && !is_gone(from)) return fault_of(from, error);
  }
  // Last, because nothing can be made in a folder without permissions.
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    std::error_code ignored;
    if (folder->second != fs::perms::unknown) fs::permissions(folder->first, folder->second, ignored);
  }
  return {};
}

}  // namespace

WorkingPlan plan_working_folder(WorkingFolder kind, const fs::path& ours, const fs::path& left_out) {
  WorkingPlan plan;
  if (kind == WorkingFolder::here) return plan;
  if (kind == WorkingFolder::links) {
    std::error_code error;
    for (fs::directory_iterator entry(ours, error), end; !error && entry != end; entry.increment(error)) {
      plan.parts.push_back({entry->path().filename(), Gets::link});
    }
    return plan;
  }
  std::vector<FileId> not_copied;
  struct stat status {};
  if (::lstat(left_out.c_str(), &status) == 0) not_copied.emplace_back(status.st_dev, status.st_ino);
  const bool is_bounded = kind == WorkingFolder::bounded_copy;
  const FolderScan scan =
      scan_folder(ours, is_bounded ? kMostScanned : std::numeric_limits<std::size_t>::max(), not_copied);
  if (!scan.is_whole) return plan_working_folder(WorkingFolder::links, ours, left_out);
  std::set<fs::path> below_links;
  std::set<fs::path> links;
  if (is_bounded) {
    below_links = too_many_below(scan, kMostCopiedEntries);
    links = too_large(scan, below_links, kMostCopiedBytes);
  }
  for (const auto& [path, its] : scan.entries) {
    if (below_links.count(*path.begin()) != 0) {
      if (path == *path.begin()) plan.parts.push_back({path, Gets::link});
    } else if (S_ISDIR(its.st_mode)) {
      const bool is_open = ::access((ours / path).c_str(), R_OK | X_OK) == 0;
      plan.parts.push_back({path, is_open ? Gets::folder : Gets::link});
    } else if (S_ISREG(its.st_mode) || S_ISLNK(its.st_mode)) {
      plan.parts.push_back({path, links.count(path) != 0 ? Gets::link : Gets::copy});
    }
  }
  return plan;
}

std::string make_working_folder(WorkingFolder kind, const WorkingPlan& plan, const fs::path& ours,
                                const fs::path& folder, fs::path& made) {
  std::error_code error;
  fs::create_directories(folder / "tmp", error);
  if (error) return fault_of(folder / "tmp", error);
  made = ours;
  if (kind == WorkingFolder::here) return {};
  made = folder / "work";
  fs::create_directory(made, error);
  return error ? fault_of(made, error) : make_parts(plan, ours, made);
}

fs::path real_tmp() {
  std::error_code error;
  const fs::path real = fs::canonical("/tmp", error);
  return error ? fs::path("/tmp") : real;
}

}  // namespace syscost::bench::faults
