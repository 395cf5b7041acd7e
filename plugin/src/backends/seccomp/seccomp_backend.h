// SPDX-License-Identifier: MIT
//
// The seccomp backend: counts how often each syscall is entered, without privilege. It sees no results and no times.
//
// README.md says how it works; docs/backends.md lists what it can and cannot count.
#pragma once

#include <memory>

#include "core/backend.h"
#include "extras/faults/core/fault_rule.h"
#include "os/errors.h"

namespace syscost::seccomp {

struct BackendOptions {
  bool children = false;  ///< The processes below are counted too, by program.
  bool faults = false;    ///< Calls that `filter` leaves out of the counts can fail, too.
};

/// Puts this process, for the rest of its life, under a filter that notifies what `filter` selects (null = everything),
/// after a forked probe counted 64 of 64 known calls. Between windows only.
Result<std::unique_ptr<Backend>> open_backend(const Filter* filter, const BackendOptions& options = {});

/// Fails if calls cannot fail as the rule says, because another process answers them.
Result<void> check_fault(const FaultRule& rule);

/// Tests in a child if open_backend() would work, and leaves this process without a filter.
Result<void> probe_backend();

}  // namespace syscost::seccomp
