// SPDX-License-Identifier: MIT
//
// The seccomp backend: counts how often each syscall is entered, without privilege. It sees no results and no times.
//
// README.md says how it works; docs/backends.md lists what it can and cannot count.
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/backend_request.h"
#include "os/errors.h"

namespace syscost::seccomp {

/// Puts this process, for the rest of its life, under a filter that notifies what the request's filter selects, after a
/// forked probe counted 64 of 64 known calls. Between windows only. It knows OtherProgramsWish and
/// UnselectedCallsWish.
Result<std::unique_ptr<Backend>> open_backend(const BackendRequest& request = {});

/// Tests in a child if open_backend() would work, and leaves this process without a filter.
Result<void> probe_backend();

}  // namespace syscost::seccomp
