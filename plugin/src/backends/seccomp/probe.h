// SPDX-License-Identifier: MIT
//
// The proof that user notification works here, before this process is put under a filter for good.
//
// A child installs the filter instead, and makes 64 known calls. This process acts as its supervisor, and must count
// exactly 64. The filter ends with the child.
#pragma once

#include "os/result.h"

namespace syscost::seccomp {

/// Fails if user notification does not work here. Between windows only.
Result<void> probe();

}  // namespace syscost::seccomp
