// SPDX-License-Identifier: MIT
//
// Installation: this process under the filter, with its supervisor. A filter cannot be taken off, so a process has at
// most one for the rest of its life, however often a backend is opened on it.
#pragma once

#include "backends/seccomp/shared.h"
#include "core/filter.h"
#include "os/result.h"

namespace syscost::seccomp {

/// Installs filter and supervisor, after a forked probe has shown that both work. With `faults`, calls can be made to
/// fail: each call notifies the supervisor, also those that `filter` leaves out of the counts. A second call returns
/// the installed one, and fails if it was made for another filter. Between windows only.
Result<Shared*> install(const Filter* filter, bool children, bool faults);

}  // namespace syscost::seccomp
