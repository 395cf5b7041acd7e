// SPDX-License-Identifier: MIT
//
// Calls of syscost in children of the measured process. A backend that counts children must not count them: calls by
// which fork children close our descriptors, and all calls of processes that become our tools.
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

/// syscall(2), errno included, for our calls between begin_own_calls() and end_own_calls(). A backend that sees each
/// call on its own recognises it by the sixth argument, which the kernel ignores. Only for close and fstat: such a
/// backend counts other calls. Signal-safe.
long own_call(long number, long first, long second = 0);

/// In the process that starts a tool of ours, `self` by the measured process's PID namespace: like begin_own_calls(),
/// and in a session of its own (setsid(2)). By the session a backend recognises the tool, and each process that the
/// tool starts, until end_own_session(). 0, or an errno if a backend cannot recognise them: then nothing may be
/// started.
int begin_own_session(pid_t self);
/// In the measured process, when the tool has ended or was not started: the number may soon belong to another process.
void end_own_session(pid_t session);

/// For a backend: begin_own_calls() then calls gettid(cookie, 1), and end_own_calls() gettid(cookie, 0), which the
/// backend's programs recognise. With cookie 0 they make no call.
void set_own_calls_cookie(std::uint64_t cookie);
/// For a backend: the sixth argument that own_call() passes (0 = none), and the cells, all 0, into which
/// begin_own_session() writes the sessions' numbers (empty = it writes none).
void set_own_calls_marks(std::uint64_t sixth_argument, std::span<std::atomic<pid_t>> sessions);

}  // namespace syscost
