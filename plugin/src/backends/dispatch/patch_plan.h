// SPDX-License-Identifier: MIT
//
// The plan of the patches: which bytes of libc are written, and where, so that call sites jump to the stub; and how
// pages of code are replaced by changed copies while other threads run them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/dispatch/sites.h"

namespace syscost::dispatch {

inline constexpr std::size_t kPage = 4096;

/// The file that code comes from. A copy that comes from the same place of the same file keeps the name of the mapping,
/// which debuggers and perf look at.
struct CodeFile {
  int descriptor = -1;
  std::int64_t offset = 0;  ///< Where the first page is in the file.
};

/// Some bytes of code: as they were at first, and as they shall be.
struct Change {
  unsigned char* at = nullptr;
  std::size_t count = 0;
  std::array<unsigned char, 5> original = {};
  std::array<unsigned char, 5> content = {};

  bool is_made() const { return std::equal(at, at + count, content.begin()); }
  /// True if something else has written there.
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

/// Returns for each page: true if it is `readable` and equal to the file, except for `changes` that are made. `changes`
/// are in order of address.
std::vector<bool> compare_with_file(const Pages& pages, const std::vector<bool>& readable,
                                    std::span<const Change> changes, const CodeFile& file);

/// Returns for each page: true if it may be read and executed, but not written. All true if /proc is missing.
std::vector<bool> are_mapped_as_code(const Pages& pages);

/// The source of a copy, and if its mapping is the file's. The kernel finds breakpoints of uprobes by the file.
enum class CopyOf { file, memory_over_file, memory };

/// Moves a copy over `pages`, in which each change has its content. Makes only syscalls that are not dispatched, and
/// allocates nothing. Returns the reason if it fails, else null.
///
/// No memory is ever writable and executable: the copy is written elsewhere, made executable, and moved over the pages
/// in one step of the kernel (mremap). A thread that runs there finds the old pages or the new ones. The kernel may
/// refuse any step (SELinux, PR_SET_MDWE, a seccomp filter); then the pages are as they were.
const char* replace_code(const Pages& pages, std::span<const Change> changes, CopyOf source, const CodeFile& file);

/// Maps the file again where its pages were replaced. False if the kernel refuses.
bool forget_changes(const Pages& pages);

/// A site, its trampoline, and the bytes that lead there. A trampoline is mapped within reach of a near jump; it has
/// the displaced instruction, the way back in a register, and a jump to the stub.
struct Patch {
  Site site;
  std::vector<Change> changes;  ///< In order of address: the site's jump, and the bridge.
  bool is_in_place = false;
  bool has_left_bridge = false;  ///< Only its bridge is left, because a thread may be about to jump there.

  /// True if its bridge stays when it is taken away.
  bool leaves_bridge(bool alone) const { return site.bridge != nullptr && !alone && (is_in_place || has_left_bridge); }
};

struct PatchPlan {
  std::string why_not;  ///< Empty = there is a plan.
  std::vector<Patch> patches;
  std::array<unsigned, kRefusals> refused = {};

  /// The pages that it changes.
  Pages pages() const;
};

/// Returns the plan of this process. It is made once, from the unchanged code of libc, because later that code has our
/// jumps in it. Its trampolines stay for ever, because a thread may be in one.
PatchPlan& patch_plan();

}  // namespace syscost::dispatch
