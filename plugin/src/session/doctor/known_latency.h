// SPDX-License-Identifier: MIT
//
// The latency of one known call, as each backend measures it.
//
// Two backends take the time of a call at different places: eBPF at the kernel's two tracepoints, dispatch around the
// way into the kernel and back. So their latencies are never compared. If you see both, you want to know by how much
// they differ on this machine: --syscost_doctor measures and prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/backend.h"

namespace syscost::session {

/// Median latency in ns of a thousand getppid, as `backend` measures it: the middle of the median's bucket. `backend`
/// is open and counts nothing else. Empty if it measures no latency.
std::optional<std::uint64_t> latency_of_getppid(Backend& backend);

/// "a getppid takes 84 ns by ebpf, 116 ns by dispatch, ...": with the difference in ns, or with the statement that both
/// are in the same bucket or in adjacent ones. Empty unless both are known.
std::string describe_latencies(std::optional<std::uint64_t> ebpf_ns, std::optional<std::uint64_t> dispatch_ns);

}  // namespace syscost::session
