// SPDX-License-Identifier: MIT
//
// Whether the numbers in /proc are those that this process knows processes by.
//
// In a PID namespace with the /proc of an outer one (`unshare --pid` without `--mount-proc`) getpid() is a number of
// the namespace, and /proc/NUMBER is another process. Only /proc/self is right there. So a path of another process is
// made by proc_of(), which has none then, and a number that was read in /proc goes through own_number_of() before
// anything is done to that process.
#pragma once

#include <sys/types.h>

#include <string>

namespace syscost {

/// The number of this process in /proc; 0 without /proc, or if it does not show this process.
pid_t shown_number();

/// True if /proc shows this process under its own id. False also without /proc.
bool is_proc_ours();

/// "/proc/self" for this process, else "/proc/NUMBER"; empty if that would be another process.
std::string proc_of(pid_t process);

/// When a process started, in clock ticks since boot. Together with its number it identifies a process. Empty if
/// unknown.
std::string start_time(pid_t process);

/// By which number this process knows /proc/SHOWN, which must be a process of its namespace or of one below it, for
/// example a child; 0 if that cannot be told.
pid_t own_number_of(pid_t shown);

}  // namespace syscost
