// SPDX-License-Identifier: MIT
//
// Pages of code, replaced by changed copies while other threads run them.
//
// No memory is ever writable and executable: a copy is written elsewhere, made executable, and moved over the page in
// one step of the kernel (mremap). A thread that runs there finds the old page or the new one. The kernel may refuse
// any step (SELinux, PR_SET_MDWE, a seccomp filter); then the page is as it was.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::dispatch {

inline constexpr std::size_t kPage = 4096;

/// The file that a page of code comes from. A copy that comes from the same place of the same file keeps the name of
/// the mapping, which debuggers and profilers look at.
struct CodeFile {
  int descriptor = -1;
  std::int64_t offset = 0;  ///< Of the page.
};

struct Replaced {
  const char* why_not = nullptr;  ///< Null when the page was replaced.
  bool is_of_file = false;        ///< Without its changes the page would be the file's, which holds `original`.
};

/// Moves a copy with `content` over the page at `page`. `original` is what the page held before any change, or null.
/// Makes syscalls of its own only, none of them dispatched.
Replaced replace_page(unsigned char* page, const unsigned char* content, const unsigned char* original,
                      const CodeFile& file);

/// Gives a replaced page that `is_of_file` back to its file. False when the kernel refuses.
bool forget_changes(unsigned char* page);

}  // namespace syscost::dispatch
