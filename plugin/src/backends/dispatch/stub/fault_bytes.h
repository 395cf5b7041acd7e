// SPDX-License-Identifier: MIT
//
// How many bytes a call moves that meets a fault, and how it moves fewer.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

/// True if the result of this syscall of the native ABI is a number of bytes that it has read or written.
bool moves_bytes(std::uint64_t number);

/// True if the call asks for no byte. It moves none, and succeeds also where there is room for none.
bool asks_for_nothing(const Call& call);

/// Lets the call move at most `most` bytes, which is not 0. Of several stretches only whole ones remain, or a part of
/// the first. False if it moves no more anyway, if its number says that it cannot be shortened, or if the call is as it
/// cannot succeed: then the program gets the kernel's error. `call` is of the native ABI.
bool shorten(Call& call, std::uint64_t most);

}  // namespace syscost::signal_safe
