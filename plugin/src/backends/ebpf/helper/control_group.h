// SPDX-License-Identifier: MIT
//
// Control groups: who pays for a helper, and who can stop it.
//
// A helper lives in the control group of the process that started it. The kernel charges all its memory there, 5 to 14
// MiB and more for each client, freezes it with the group, and a service manager ends it with the group. So a user has
// a helper in each group in which something is measured: a group pays for its own processes, and none waits for
// another. The helper for everyone has the group of its service, and gives no more places than fit there.
//
// A helper also lives in the PID namespace of the process that started it, and the kernel kills it when the first
// process of that namespace ends. One that began in a user namespace has rights there only, and would refuse everyone.
// So a user has a helper in each of these namespaces, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace syscost::ebpf {

/// Differs for calling threads in different groups of any hierarchy, or in different PID or user namespaces; 0 without
/// /proc. `root` is for tests.
std::uint64_t own_surroundings(const std::string& root = {});

/// The least memory limit of the calling thread's group and the groups above it, if any has one that can be read.
std::optional<std::uint64_t> own_memory_limit(const std::string& root = {});

}  // namespace syscost::ebpf
