// SPDX-License-Identifier: MIT
//
// What each syscall does to files, and which of its arguments name them. For file_log.cc.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

/// What becomes of a call.
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

/// True if the data of a write are several stretches.
bool has_vector(std::uint64_t number);

}  // namespace syscost::signal_safe
