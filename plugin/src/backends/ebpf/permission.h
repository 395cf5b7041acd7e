// SPDX-License-Identifier: MIT
//
// Which permission to use eBPF is missing, and the one line that grants it.
//
// There are many ways to lack it: an ordinary user, a container that was not granted a capability, one that was but
// runs its programs as an ordinary user, a rootless engine, a seccomp profile. Each has another remedy, and advice for
// the wrong one costs an afternoon.
#pragma once

#include <optional>

#include "os/confinement.h"
#include "os/result.h"

namespace syscost::ebpf {

/// What this process lacks of CAP_BPF and CAP_PERFMON, with the remedy that works in this confinement; empty when both
/// are there and mean something to the kernel. If a helper with them would do, that is the better remedy.
std::optional<Failure> missing_permission(const Confinement& here);

/// True if a program with both on its file gets them when it is executed here: messages may then advise setcap for
/// syscost's helper.
bool gets_capabilities_of_files(const Confinement& here);

/// The remedy when bpf(2) is denied with EPERM although both capabilities are there.
std::string remedy_of_denial(const Confinement& here);

}  // namespace syscost::ebpf
