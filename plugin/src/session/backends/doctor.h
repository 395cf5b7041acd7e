// SPDX-License-Identifier: MIT
//
// --syscost_doctor: which backends work on this machine, what the container takes away, and how long a known call
// takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/backend.h"
#include "os/confinement.h"

namespace syscost::session {

// Two backends take the time of a call at different places: eBPF at the kernel's two tracepoints, dispatch around the
// way into the kernel and back. So their latencies are never compared. If you see both, you want to know by how much
// they differ on this machine: --syscost_doctor measures a known call with each, and prints it.

/// Median latency in ns of a thousand getppid, as `backend` measures it: the middle of the median's bucket. `backend`
/// is open and counts nothing else. Empty if it measures no latency.
std::optional<std::uint64_t> latency_of_getppid(Backend& backend);

/// "a getppid takes 84 ns by ebpf, 116 ns by dispatch, ...": with the difference in ns, or with the statement that both
/// are in the same bucket or in adjacent ones. Empty unless both are known.
std::string describe_latencies(std::optional<std::uint64_t> ebpf_ns, std::optional<std::uint64_t> dispatch_ns);

/// The doctor's lines about the container in which it runs, each with its line break; empty outside of containers. The
/// backends report the permissions that they lack. These lines report what only bpftrace needs, with the setting of the
/// container engine that provides it.
std::string describe_container(const Confinement& here, bool has_tracefs);

/// Prints --syscost_doctor on stdout: which backends work on this machine, and for each other one the reason and the
/// remedy. Returns the exit code: 0 if a backend works, else 1.
int run_doctor();

}  // namespace syscost::session
