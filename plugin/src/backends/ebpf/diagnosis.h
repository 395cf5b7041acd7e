// SPDX-License-Identifier: MIT
//
// Why the eBPF backend does not work here, and what would make it work.
//
// The kernel says EPERM for half a dozen different reasons. This looks at what there is (kernel, BTF, permission.h) and
// turns it into one sentence of cause and one of remedy.
#pragma once

#include <string_view>

#include "core/result.h"

namespace syscost::ebpf {

/// The failure of `step` with errno `error`; `libbpf_log` is libbpf's last line, or empty.
Failure explain_failure(std::string_view step, int error, std::string_view libbpf_log);

}  // namespace syscost::ebpf
