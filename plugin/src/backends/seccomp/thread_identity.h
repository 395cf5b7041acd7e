// SPDX-License-Identifier: MIT
//
// The number by which the supervisor knows the calling thread.
#pragma once

#include <cstdint>

#include "backends/seccomp/shared.h"

namespace syscost::seccomp {

/// 0 if a filter of the user forbids gettid. A thread's first use makes one call, which is never counted.
std::int32_t calling_thread(const Shared& shared);

}  // namespace syscost::seccomp
