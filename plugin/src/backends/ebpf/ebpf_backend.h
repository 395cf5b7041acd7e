// SPDX-License-Identifier: MIT
//
// The eBPF backend: sees every syscall of every thread of this process, with result and latency.
//
// It needs CAP_BPF, CAP_PERFMON and a kernel >= 5.13 with BTF. docs/backends.md says what the events mean and what
// cannot be seen this way.
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/backend_request.h"
#include "os/errors.h"

namespace syscost::ebpf {

/// Loads, attaches, and proves that it works: 64 known calls must be counted as exactly 64. Between windows only.
/// It has the abilities that `request` wishes (ability.h). The request is needed no longer; its filter is.
Result<std::unique_ptr<Backend>> open_backend(const BackendRequest& request = {});

/// Starts the helper that this user's processes share, unless it runs. It stays, with its programs loaded, while
/// the result lives. Null where processes do not share one; those that count then find out why.
std::shared_ptr<void> hold_helper();

}  // namespace syscost::ebpf
