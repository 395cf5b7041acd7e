// SPDX-License-Identifier: MIT
//
// Puts this process under the filter, after a child has proved that user notification works here. A filter cannot be
// taken off, so a process has at most one for the rest of its life, however often a backend is opened on it.
#pragma once

#include "backends/seccomp/shared.h"
#include "core/selector.h"
#include "os/errors.h"

namespace syscost::seccomp {

/// Installs filter and supervisor, after a forked probe has shown that both work. With `unselected` each
/// call notifies the supervisor, also those that `filter` leaves out of the counts. A second call returns
/// the installed one, and fails if it was made for another filter. Between windows only.
Result<Shared*> install(const Filter* filter, bool children, bool unselected);

/// Fails if user notification does not work here. A child installs the filter instead of this process, and makes 64
/// known calls. This process acts as its supervisor, and must count exactly 64. The filter ends with the child. Between
/// windows only.
Result<void> probe();

}  // namespace syscost::seccomp
