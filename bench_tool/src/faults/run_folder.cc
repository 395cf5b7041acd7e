// SPDX-License-Identifier: MIT
#include "faults/run_folder.h"

#include <fmt/format.h>

#include <system_error>

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;

/// Copies all files, folders and links in `from` to `to`. FIFOs, sockets and devices are left out, and the folder
/// `left_out`, which may lie in `from`.
void copy_below(const fs::path& from, const fs::path& to, const fs::path& left_out, std::error_code& error) {
  for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path copy = to / entry->path().filename();
    const fs::file_type type = entry->symlink_status(error).type();
    if (error) return;
    if (type == fs::file_type::symlink) {
      fs::copy_symlink(entry->path(), copy, error);
    } else if (type == fs::file_type::regular) {
      fs::copy_file(entry->path(), copy, error);
    } else if (type == fs::file_type::directory && !fs::equivalent(entry->path(), left_out, error) && !error) {
      fs::create_directory(copy, entry->path(), error);
      if (!error) copy_below(entry->path(), copy, left_out, error);
    }
    if (error) return;
  }
}

}  // namespace

std::string make_working_folder(WorkingFolder kind, const fs::path& ours, const fs::path& folder, fs::path& made) {
  std::error_code error;
  fs::create_directories(folder / "tmp", error);
  if (error) return fmt::format("{}: {}", (folder / "tmp").string(), error.message());
  made = ours;
  if (kind == WorkingFolder::here) return {};
  made = folder / "work";
  fs::create_directory(made, error);
  if (!error && kind == WorkingFolder::copy) {
    copy_below(ours, made, folder.parent_path(), error);
  } else if (!error) {
    for (fs::directory_iterator entry(ours, error), end; !error && entry != end; entry.increment(error)) {
      fs::create_symlink(entry->path(), made / entry->path().filename(), error);
      if (error) break;
    }
  }
  return error ? fmt::format("{}: {}", made.string(), error.message()) : "";
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
