// SPDX-License-Identifier: MIT
//
// The proof that user notification works here, before this process is put under a filter for good.
//
// A child is put under it instead, makes 64 known calls, and this process plays the supervisor: it must count exactly
// 64. What cannot be undone ends with the child.
#pragma once

#include "os/result.h"

namespace syscost::seccomp {

/// Between windows only.
Result<void> probe();

}  // namespace syscost::seccomp
