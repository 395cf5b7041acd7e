// SPDX-License-Identifier: MIT
#include "faults/run_folder.h"

#include <fmt/format.h>

#include <system_error>

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;

std::string fault_of(const fs::path& path, const std::error_code& error) {
  return error ? fmt::format("{}: {}", path.string(), error.message()) : "";
}

/// Copies all files, folders and links in `from` to `to`. FIFOs, sockets and devices are left out, and the folder
/// `left_out`, which may lie in `from`. Returns what went wrong, or "".
std::string copy_below(const fs::path& from, const fs::path& to, const fs::path& left_out) {
  std::error_code error;
  fs::directory_iterator entry(from, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    const fs::path copy = to / path.filename();
    const fs::file_type type = entry->symlink_status(error).type();
    if (type == fs::file_type::symlink) {
      fs::copy_symlink(path, copy, error);
    } else if (type == fs::file_type::regular) {
      fs::copy_file(path, copy, error);
    } else if (type == fs::file_type::directory && !fs::equivalent(path, left_out, error) && !error) {
      fs::create_directory(copy, path, error);
      if (std::string fault = error ? "" : copy_below(path, copy, left_out); !fault.empty()) return fault;
    }
    if (error) return fault_of(path, error);
  }
  return fault_of(from, error);
}

}  // namespace

std::string make_working_folder(WorkingFolder kind, const fs::path& ours, const fs::path& folder, fs::path& made) {
  std::error_code error;
  fs::create_directories(folder / "tmp", error);
  if (error) return fault_of(folder / "tmp", error);
  made = ours;
  if (kind == WorkingFolder::here) return {};
  made = folder / "work";
  fs::create_directory(made, error);
  if (!error && kind == WorkingFolder::copy) {
    return copy_below(ours, made, folder.parent_path());
  }
  if (!error) {
    for (fs::directory_iterator entry(ours, error), end; !error && entry != end; entry.increment(error)) {
      fs::create_symlink(entry->path(), made / entry->path().filename(), error);
      if (error) break;
    }
  }
  return fault_of(made, error);
}

fs::path real_tmp() {
  std::error_code error;
  const fs::path real = fs::canonical("/tmp", error);
  return error ? fs::path("/tmp") : real;
}

void remove_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return;
  // A test may have taken the permissions of its folders.
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add | fs::perm_options::nofollow, ignored);
  for (fs::recursive_directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    std::error_code each;
    if (entry->is_directory(each) && !entry->is_symlink(each)) {
      fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, each);
    }
  }
  fs::remove_all(folder, ignored);
}

}  // namespace syscost::bench::faults
