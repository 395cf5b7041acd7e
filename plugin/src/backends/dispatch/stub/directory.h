// SPDX-License-Identifier: MIT
//
// The directory: which slot of the counts a syscall has, and which one a (syscall, errno) pair.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"
#include "backends/dispatch/stub/file_kinds.h"

namespace syscost::signal_safe {

/// The slot of the call's syscall; kSlots if none is left, kNotSelected if the call is not counted.
std::uint32_t slot_of(Directory& directory, const Call& call);

/// The slot of the call's syscall and kinds of files. Where none is left for these, that of the syscall.
std::uint32_t slot_of(Directory& directory, const Call& call, FileKinds kinds);

/// kErrorSlots if none is left.
std::uint32_t error_slot_of(Directory& directory, std::uint32_t slot, std::uint32_t error);

}  // namespace syscost::signal_safe
