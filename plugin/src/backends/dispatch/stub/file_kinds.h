// SPDX-License-Identifier: MIT
//
// The kinds of the files that a call moves data between (--syscost_detail file).
//
// A client of call.h. Before a call that moves data is made, the stub asks the kernel what its descriptors stand for.
// It asks by statx with AT_STATX_DONT_SYNC, so that a network or FUSE file system is not asked in turn. That call is
// one that the program does not make: a seccomp filter may kill the process for it. So it is made only while there is
// none.
//
// A pair of syscall and kinds has a slot like a syscall's (cells.h): counts, errors, latencies and calls that cross
// a boundary need nothing else.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"

namespace syscost::signal_safe {

/// Values of core/syscall_id.h, FileKind: of the file in the low byte, of the other file in the next. 0 = not asked.
using FileKinds = std::uint32_t;

/// Where Directory::syscall_of has a slot's FileKinds: the lowest bit.
inline constexpr unsigned kKindsAt = 40;
constexpr FileKinds kinds_of(std::uint64_t syscall) {
  return static_cast<FileKinds>(syscall >> kKindsAt & 0xffff);
}

/// Asks the kernel. Only where no filter kills for it.
std::uint32_t kind_of(std::uint64_t descriptor);

/// The calls to mark.
NumberSet moving_numbers();

/// Asks about the files of a call that is about to be made, in Call::adapted.
void ask_file_kinds(Call& call);

}  // namespace syscost::signal_safe
