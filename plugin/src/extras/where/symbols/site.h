// SPDX-License-Identifier: MIT
//
// The site of a call: the innermost place in its stack that is the user's, with its path from the root of the checkout.
//
// A write is made in libc, for a stream of libstdc++, and parts of the stream are inlined from headers. None of that is
// what people can change. The line that they can change is the first one outside of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extras/where/core/call_stack.h"
#include "extras/where/symbols/protocol.h"

namespace syscost::symbols {

/// Paths of sources as people write them, from the root of the checkout around the file. Two machines build one commit
/// in different folders, and a review shows paths from the root.
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

/// One frame of a stack, with what is known of it.
struct ResolvedFrame {
  const Module* module = nullptr;  ///< Null: outside every file.
  std::uint64_t offset = 0;
  const Place* place = nullptr;  ///< Null: nothing is known.
};

/// Code that is not the user's.
struct SiteRule {
  /// --syscost_where skip=PATH: files and folders. A relative path matches wherever it stands in a source's path.
  std::vector<std::string> skipped;
  std::pmr::string main_program;  ///< Its code is the user's wherever it lies.

  bool skips_module(const Module& module) const;
  bool skips_source(std::string_view file) const;
};

/// The text of a row: `at src/log.cc:17 Log::batch+3`; csv-format.md has all forms. Never empty.
std::pmr::string site_text(std::span<const ResolvedFrame> frames, StackEnd end, const SiteRule& rule, SourceTree& tree,
                           std::pmr::memory_resource& memory);

/// The frames that are the user's, from the innermost on: `src/log.cc:17 Log::batch+3`.
std::vector<std::string> user_frames(std::span<const ResolvedFrame> frames, const SiteRule& rule, SourceTree& tree,
                                     std::pmr::memory_resource& memory);

/// The frames from the outermost to the innermost, with semicolons between, for flamegraph.pl and speedscope.
std::pmr::string folded_text(std::span<const ResolvedFrame> frames, StackEnd end, std::pmr::memory_resource& memory);

}  // namespace syscost::symbols
