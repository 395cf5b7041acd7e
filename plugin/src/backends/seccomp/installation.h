// SPDX-License-Identifier: MIT
//
// Installation: this process under the filter, with its supervisor. A filter cannot be taken off, so a process has at
// most one for the rest of its life, whoever opens a backend on it and how often.
#pragma once

#include "backends/seccomp/shared.h"
#include "core/filter.h"
#include "core/result.h"

namespace syscost::seccomp {

/// Installs filter and supervisor, after a forked probe has shown that both work; at the second call answers what there
/// is, which must have been made for the same filter. Between windows only.
Result<Shared*> install(const Filter* filter, bool children);

/// Starts a child that nobody's wait() sees, for it announces its end by no signal; shares descriptors with it. It must
/// neither allocate nor lock. Every signal is blocked in it.
pid_t clone_quietly();
/// Waits for such a child's end.
int wait_for_quiet_child(pid_t child);

}  // namespace syscost::seccomp
