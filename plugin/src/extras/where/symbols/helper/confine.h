// SPDX-License-Identifier: MIT
//
// Takes from this process what reading files does not need.
//
// Debug information is data that anyone may have written, and its reader is a large library. If a file takes the helper
// over, it gets a process that can read files that the helper's user can read, answer, and do nothing else.
#pragma once

#include "os/errors.h"

namespace syscost::symbols {

/// Limits of memory, processor time, files and processes; no capability, except the one to read files that this process
/// has already (a program of root measures programs in the homes of others); a seccomp filter that lets through what
/// reading files needs. Irreversible. Call it when every library is loaded.
Result<void> confine_to_reading();

}  // namespace syscost::symbols
