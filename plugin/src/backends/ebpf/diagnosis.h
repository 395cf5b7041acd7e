// SPDX-License-Identifier: MIT
//
// Why the eBPF backend does not work here, which permission is missing, and which line would grant it.
//
// The kernel says EPERM for half a dozen different reasons. This looks at the kernel, its BTF, our permissions and
// libbpf's messages, and turns them into one sentence of cause and one of remedy.
#pragma once

#include <optional>
#include <string_view>

#include "backends/ebpf/libbpf.h"
#include "os/confinement.h"
#include "os/errors.h"

namespace syscost::ebpf {

/// The one of CAP_BPF and CAP_PERFMON that this process lacks, or both, with the remedy that works in this confinement;
/// empty when both are there and mean something to the kernel. If a helper with them would do, that is the better
/// remedy.
///
/// There are many ways to lack them: an ordinary user, a container that was not granted a capability, one that was but
/// runs its programs as an ordinary user, a rootless engine, a seccomp profile. Each has another remedy, and advice for
/// the wrong one costs an afternoon.
std::optional<Failure> missing_permission(const Confinement& here);

/// True if a program with both on its file gets them when it is executed here: messages may then advise setcap for
/// syscost's helper.
bool gets_capabilities_of_files(const Confinement& here);

/// The remedy when bpf(2) is denied with EPERM although both capabilities are there.
std::string remedy_of_denial(const Confinement& here);

/// The failure of `step` with errno `error`. If the verifier refused a program, the failure says so, whatever the
/// errno: the verifier returns EACCES for a wrong program, and the kernel reports missing rights before the verifier
/// runs.
Failure explain_failure(std::string_view step, int error, const LibbpfWords& said);

/// By its release, from uname(2); false if that is unreadable.
bool kernel_is_at_least(int major, int minor);

}  // namespace syscost::ebpf
