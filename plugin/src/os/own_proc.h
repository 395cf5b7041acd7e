// SPDX-License-Identifier: MIT
//
// Whether the numbers in /proc are those that this process knows processes by.
//
// In a PID namespace with the /proc of an outer one (`unshare --pid` without `--mount-proc`) getpid() is a number of
// the namespace, and /proc/NUMBER is another process. Only /proc/self is right there. So a path of another process is
// made by proc_of(), which has none then.
#pragma once

#include <sys/types.h>

#include <string>

namespace syscost {

/// True if /proc shows this process under its own id. False also without /proc.
bool is_proc_ours();

/// "/proc/self" for this process, else "/proc/NUMBER"; empty if that would be another process.
std::string proc_of(pid_t process);

}  // namespace syscost
