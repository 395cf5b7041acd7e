// SPDX-License-Identifier: MIT
//
// Counts what operator new hands out, for the code that promises to allocate nothing because a window is open.
#pragma once

#include <cstddef>

namespace syscost::test {

/// Allocations by operator new in this thread, so far.
std::size_t allocation_count();

}  // namespace syscost::test
