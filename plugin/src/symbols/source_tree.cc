// SPDX-License-Identifier: MIT
#include "symbols/source_tree.h"

#include <sys/stat.h>

#include <string>

#include "os/small_file.h"

namespace syscost::symbols {
namespace {

/// True if `folder` is the root of a checkout, and no submodule's.
bool is_root_of_checkout(std::string_view folder, std::pmr::memory_resource& memory) {
  struct stat status {};
  std::pmr::string path(&memory);
  for (const char* mark : {"/.hg", "/.svn"}) {
    path.assign(folder).append(mark);
    if (stat(path.c_str(), &status) == 0) return true;
  }
  path.assign(folder).append("/.git");
  if (lstat(path.c_str(), &status) != 0) return false;
  // In a submodule and in a second worktree it is a file, which names the folder: `gitdir: ../.git/modules/json`.
  return !S_ISREG(status.st_mode) ||
         read_small_file(path.c_str(), memory, kMostOfSmallFile).find("/modules/") == std::pmr::string::npos;
}

}  // namespace

std::string_view SourceTree::root_of(std::string_view folder) {
  if (folder.empty()) return {};
  if (const auto known = roots_.find(folder); known != roots_.end()) return known->second;
  std::pmr::memory_resource& memory = *roots_.get_allocator().resource();
  const std::string_view root =
      is_root_of_checkout(folder, memory) ? folder : root_of(folder.substr(0, folder.find_last_of('/')));
  return roots_.emplace(folder, root).first->second;
}

std::string_view SourceTree::shown(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (!path.starts_with('/') || slash == std::string_view::npos) return path;
  const std::string_view root = root_of(path.substr(0, slash));
  return root.empty() ? path : path.substr(root.size() + 1);
}

}  // namespace syscost::symbols
