// SPDX-License-Identifier: MIT
//
// The function that the fuzzer of unwind tables and its test run: a stack in a library, unwound by tables that say
// anything.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::dispatch::fuzz {

/// False where this C library has no unwind tables for the unwinder.
bool can_unwind_library();

/// Changes bytes of the library's unwind tables (.eh_frame_hdr and all that follows it in its segment: .eh_frame) as
/// `data` says, unwinds a stack in the library, and puts the bytes back. Aborts if the unwinder writes more than there
/// is room for, or if it does not find all frames of a stack by unchanged tables.
void unwind_by_any_table(const std::uint8_t* data, std::size_t size);

/// How many bytes there are to change.
std::size_t bytes_of_tables();

/// Unwinds a stack in the library at `path`, whatever its tables say. False if it cannot be loaded.
bool unwind_in_library(const char* path);

/// Unwinds as if the caller had been called by code at `address`.
void unwind_as_if_called_at(std::uint64_t address);

/// From now on the unwinder copies tables by the kernel; else it asks the kernel if they are there.
void copy_tables_by_kernel(bool by_kernel);

}  // namespace syscost::dispatch::fuzz
