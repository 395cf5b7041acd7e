// SPDX-License-Identifier: MIT
//
// Pages of code, replaced by changed copies while other threads run them.
//
// No memory is ever writable and executable: a copy is written elsewhere, made executable, and moved over the pages in
// one step of the kernel (mremap). A thread that runs there finds the old pages or the new ones. The kernel may refuse
// any step (SELinux, PR_SET_MDWE, a seccomp filter); then the pages are as they were.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syscost::dispatch {

inline constexpr std::size_t kPage = 4096;

/// The file that code comes from. A copy that comes from the same place of the same file keeps the name of the mapping,
/// which debuggers and profilers look at.
struct CodeFile {
  int descriptor = -1;
  std::int64_t offset = 0;  ///< Of the first page.
};

/// Some bytes of code: as they were at first, and as they shall be.
struct Change {
  unsigned char* at = nullptr;
  std::size_t count = 0;
  std::array<unsigned char, 5> original = {};
  std::array<unsigned char, 5> content = {};

  bool is_made() const { return std::equal(at, at + count, content.begin()); }
  /// Something else has written there.
  bool is_foreign() const { return !is_made() && !std::equal(at, at + count, original.begin()); }
};

/// Whole pages.
struct Pages {
  unsigned char* begin = nullptr;
  unsigned char* end = nullptr;

  std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
  std::size_t count() const { return bytes() / kPage; }
  bool hold(const Change& change) const { return change.at < end && change.at + change.count > begin; }
};

/// For each page: is it `readable`, and as the file has it, but for those of `changes` that are there? They come in
/// order of address.
std::vector<bool> compare_with_file(const Pages& pages, const std::vector<bool>& readable,
                                    std::span<const Change> changes, const CodeFile& file);

/// For each page: may it be read and executed, and nothing else? If /proc is not there, all may.
std::vector<bool> are_mapped_as_code(const Pages& pages);

/// What a copy is made of, and whether its mapping is the file's. The kernel knows breakpoints of uprobes by the file.
enum class CopyOf { file, memory_over_file, memory };

/// Moves a copy over `pages` in which every change has its content. Makes syscalls of its own only, none of them
/// dispatched, and allocates nothing. Returns why not, or null.
const char* replace_code(const Pages& pages, std::span<const Change> changes, CopyOf source, const CodeFile& file);

/// Gives replaced pages of the file back to it. False when the kernel refuses.
bool forget_changes(const Pages& pages);

}  // namespace syscost::dispatch
