// SPDX-License-Identifier: MIT
//
// What backends say the same call took, side by side.
//
// Two backends stamp a call at different places: eBPF between the kernel's two tracepoints, dispatch around the way
// into the kernel and back. So their latencies are never compared; but a person who sees both wants to know by how much
// they differ here, and that is measured, not guessed: --syscost_doctor prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/backend.h"

namespace syscost::session {

/// Median latency of a getppid in ns, the middle of its bucket, as `backend`, which is open and counts nothing else,
/// sees a thousand of them. Empty where it measures none.
std::optional<std::uint64_t> latency_of_getppid(Backend& backend);

/// "a getppid takes 84 ns by ebpf, 116 ns by dispatch, ...": what stands between the two, in ns, or that they fall into
/// the same bucket or the next. Empty unless both are known.
std::string describe_latencies(std::optional<std::uint64_t> ebpf_ns, std::optional<std::uint64_t> dispatch_ns);

}  // namespace syscost::session
