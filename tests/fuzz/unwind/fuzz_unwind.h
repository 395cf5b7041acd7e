// SPDX-License-Identifier: MIT
//
// The function that the fuzzer and its corpus test run: a recorded stack, changed by any bytes, through the unwinder of
// --syscost_where.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::dispatch::fuzz {

/// False where this C library has no unwind tables for the unwinder.
bool can_unwind();

/// Takes one of a few stacks that this process recorded, changes registers and words of it as `data` says, and unwinds
/// it. Aborts if an invariant breaks: more frames or words than there is room for, a word that does not stand where it
/// was read, another result the second time, an unchanged stack that does not end in the beginning of the process.
void unwind_any_stack(const std::uint8_t* data, std::size_t size);

}  // namespace syscost::dispatch::fuzz
