// SPDX-License-Identifier: MIT
//
// The files that a call is about: which arguments name them, and what the call does to them, for who records such
// calls; and whether a rule of faults.h means them.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"

namespace syscost::signal_safe {

/// How a call changes files, or makes changes sure.
enum class Way {
  none,
  write,         ///< descriptor, data
  file,          ///< descriptor: fsync, ftruncate, fallocate
  everything,    ///< sync, and what the recorder cannot follow: io_uring, io_submit
  file_of_path,  ///< path: truncate
  open,          ///< may make a file, or cut it
  make,          ///< path: mkdir, mknod, symlink
  link,          ///< two paths; the second is made
  remove,        ///< path
  rename,        ///< two paths
  copy,          ///< into a descriptor from another one
};

/// `none` for a number that is not recorded.
Way way_of(std::uint64_t number);

/// A directory's descriptor and a path below it.
struct At {
  std::uint64_t folder;
  std::uint64_t path;
};

/// Where the file of a call with a path is, and the second one of those with two.
struct Paths {
  At first;
  At second;
  std::uint64_t link_flags;
};

Paths paths_of(std::uint64_t number, const Arguments& given);

/// An open that may make a file, or cut it.
bool may_make_or_cut(const Call& call);

/// True if the data of a write lie in several buffers.
bool has_vector(std::uint64_t number);

// Rules that look only at calls of a descriptor, a path or a kind of file.

inline constexpr std::uint32_t kMaxFaultPath = 4096;  ///< The kernel's longest.
inline constexpr std::uint32_t kMaxRulePath = 512;  ///< A rule's. Each rule holds two, in memory that is always there.

/// By number: a bit for each argument that is one. Set by the backend before a rule needs it.
struct FileArguments {
  std::uint8_t descriptors[kMarkedNumbers];  ///< Also of directories that a path begins in.
  std::uint8_t directories[kMarkedNumbers];  ///< These only; the path is the next argument.
  std::uint8_t paths[kMarkedNumbers];
};

/// A path, absolute and without a `/` at its end.
struct RulePath {
  std::uint32_t bytes;  ///< 0 = all paths.
  char text[kMaxRulePath];
};

struct FileRule {
  std::int32_t descriptor;  ///< A call is about it if an argument is this descriptor; -1 = any.
  std::uint32_t kinds;      ///< Bits 1 << (st_mode >> 12) of the files; 0 = all.
  std::uint32_t is_prefix;  ///< Also everything below the path.
  std::uint32_t is_any;     ///< It has no condition, and means all calls.
  RulePath named;           ///< As the program names it.
  RulePath opened;          ///< As the kernel names it for a descriptor: without links.

  /// A descriptor's number alone says nothing about its file.
  bool needs_kernel() const { return kinds != 0 || opened.bytes != 0; }
};

/// Whether one file of the call is as the rule says. Asks the kernel by calls that the program does not make (readlink,
/// fstat), uncounted and undispatched, and only while a rule needs it. Unknown where the kernel would have to be asked,
/// and the program may have installed a seccomp filter, which could kill it for such a call.
enum class About { no, yes, unknown };
About is_about(const Guard& guard, const FileRule& rule, const Call& call);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::FileArguments syscost_file_arguments;
}
// NOLINTEND(readability-identifier-naming)
