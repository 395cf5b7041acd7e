// SPDX-License-Identifier: MIT
//
// Our own calls in a child of the measured process, which a backend that counts children must leave out: what fork
// children do to give up our descriptors, and the processes that become our tools.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>

namespace syscost {

/// From here on, until end_own_calls() or execve(), the calls of the calling thread are not counted as a child's, nor
/// are those of processes it starts. In a child only; one system call where a backend counts children so, else none.
/// Signal-safe, but for errno.
void begin_own_calls();
void end_own_calls();

/// syscall(2), errno included, for ours between the two: a backend that hears of every call by itself knows this one by
/// its sixth argument, which the kernel ignores. Of close and fstat alone; others are counted there.
/// Signal-safe.
long own_call(long number, long first, long second = 0);

/// In the process that starts a tool of ours, `self` by the measured process's PID namespace: like begin_own_calls(),
/// and in a session of its own (setsid(2)). By the session a backend recognises the tool, and each process that the
/// tool starts, until end_own_session(). 0, or an errno if a backend cannot recognise them: then nothing may be
/// started.
int begin_own_session(pid_t self);
/// In the measured process, when the tool has ended or was not started: the number may soon belong to another process.
void end_own_session(pid_t session);

/// By a backend: the two say gettid(cookie, 1) and gettid(cookie, 0); 0 = they say nothing.
void tell_own_calls_by(std::uint64_t cookie);
/// By a backend: the sixth argument of own_call(), 0 = it needs none, and where to write the sessions' numbers, in
/// cells that are 0; empty = nowhere.
void mark_own_calls_by(std::uint64_t sixth_argument, std::span<std::atomic<pid_t>> sessions);

}  // namespace syscost
