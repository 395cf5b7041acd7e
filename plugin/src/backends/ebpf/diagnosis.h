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

/// The failure of `step` with errno `error`. A program that the verifier refused is told as that, whatever the errno:
/// the verifier says EACCES for what is wrong with a program, and lacking rights are told before it looks.
Failure explain_failure(std::string_view step, int error, const LibbpfWords& said);

/// By its release, as uname(2) tells it; false where that is unreadable.
bool kernel_is_at_least(int major, int minor);

}  // namespace syscost::ebpf
