// SPDX-License-Identifier: MIT
//
// The dispatch backend: sees syscalls without any privilege, by Syscall User Dispatch.
//
// Linux >= 5.11 on x86-64. backends/dispatch/stub/README.md describes the stub; docs/backends.md lists the calls that
// it cannot see.
#pragma once

#include <cstdint>
#include <memory>

#include "core/backend.h"
#include "core/backend_request.h"
#include "os/errors.h"

namespace syscost::dispatch {

enum class Patching { allowed, never };

/// Fails if a debugger would stop at every dispatched call; the failure has the debugger's setting against it. `auto`
/// then skips dispatch.
Result<void> check_for_debugger();

/// Fails if open_backend() could not open one here. It changes nothing in the process but its memory. `auto` asks it
/// before a program's first test.
Result<void> try_backend();

/// Tries itself out in a forked child, takes SIGSYS over, arms the calling thread, and proves that it works: 64 known
/// calls must be counted as exactly 64. Between windows only. One at a time in a process. It has the abilities that
/// `request` wishes (ability.h); of details only kinds of files. The request is needed no longer; its filter is.
Result<std::unique_ptr<Backend>> open_backend(Patching patching, const BackendRequest& request = {});

}  // namespace syscost::dispatch
