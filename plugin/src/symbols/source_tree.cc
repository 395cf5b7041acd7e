// SPDX-License-Identifier: MIT
#include "symbols/source_tree.h"

#include <sys/stat.h>

#include <string>

#include "os/small_file.h"

namespace syscost::symbols {
namespace {

/// True if `folder` is the root of a checkout, and no submodule's.
bool is_root_of_checkout(const std::string& folder) {
  struct stat status {};
  for (const char* mark : {"/.hg", "/.svn"}) {
    if (stat((folder + mark).c_str(), &status) == 0) return true;
  }
  const std::string git = folder + "/.git";
  if (lstat(git.c_str(), &status) != 0) return false;
  // In a submodule and in a second worktree it is a file, which names the folder: `gitdir: ../.git/modules/json`.
  return !S_ISREG(status.st_mode) || read_small_file(git).find("/modules/") == std::string::npos;
}

}  // namespace

std::string_view SourceTree::root_of(std::string_view folder) {
  if (folder.empty()) return {};
  if (const auto known = roots_.find(folder); known != roots_.end()) return known->second;
  const std::string name(folder);
  const std::string_view root =
      is_root_of_checkout(name) ? folder : root_of(folder.substr(0, folder.find_last_of('/')));
  return roots_.emplace(folder, root).first->second;
}

std::string_view SourceTree::shown(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (!path.starts_with('/') || slash == std::string_view::npos) return path;
  const std::string_view root = root_of(path.substr(0, slash));
  return root.empty() ? path : path.substr(root.size() + 1);
}

}  // namespace syscost::symbols
