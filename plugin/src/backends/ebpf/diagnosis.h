// SPDX-License-Identifier: MIT
//
// Why the eBPF backend does not work here, and what would make it work.
//
// The kernel says EPERM for half a dozen different reasons. This looks at what there is (kernel, BTF, permission.h,
// libbpf's messages) and turns it into one sentence of cause and one of remedy.
#pragma once

#include <string_view>

#include "backends/ebpf/libbpf_log.h"
#include "os/result.h"

namespace syscost::ebpf {

/// The failure of `step` with errno `error`. If the verifier refused a program, the failure says so, whatever the
/// errno: the verifier returns EACCES for a wrong program, and the kernel reports missing rights before the verifier
/// runs.
Failure explain_failure(std::string_view step, int error, const LibbpfWords& said);

/// By its release, from uname(2); false if that is unreadable.
bool kernel_is_at_least(int major, int minor);

}  // namespace syscost::ebpf
