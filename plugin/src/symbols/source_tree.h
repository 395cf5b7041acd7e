// SPDX-License-Identifier: MIT
//
// SourceTree: paths of sources as people write them, from the root of the checkout around the file.
//
// Two machines build one commit in different folders, and a review shows paths from the root.
#pragma once

#include <map>
#include <memory_resource>
#include <string>
#include <string_view>

namespace syscost::symbols {

class SourceTree {
 public:
  explicit SourceTree(std::pmr::memory_resource& memory) : roots_(&memory) {}

  /// `src/log.cc` for `/home/me/project/src/log.cc`, if /home/me/project holds .git, .hg or .svn. A submodule is part
  /// of the checkout around it. Otherwise, or if the file is not on this machine, `path` itself. Reads folders: between
  /// windows only.
  std::string_view shown(std::string_view path);

 private:
  std::string_view root_of(std::string_view folder);

  std::pmr::map<std::pmr::string, std::pmr::string, std::less<>> roots_;  // by folder; empty = none
};

}  // namespace syscost::symbols
