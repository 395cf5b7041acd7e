// SPDX-License-Identifier: MIT
//
// A piece of the test's code in a fork child of its own: it may crash, hang, end the process or start others, and the
// test goes on.
//
// Between the test and the child is a keeper, a process of ours. It waits for the child, ends it when its time is over,
// and kills what the child started and left, also what has left its group and its session: that becomes a child of the
// keeper (PR_SET_CHILD_SUBREAPER). So what the program does with SIGCHLD and with its other children plays no part, and
// if the test itself is killed, the keeper still kills. The answer is in shared memory, so a child that closes all its
// descriptors can still give it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "syscost/failures.h"

namespace syscost::session {

using ContainedRun = failure_detail::ChildRun;

/// Runs `code` in a child, and returns what it said: has_said is false if it did not come to its end. It must not
/// throw. It ends with the test, and after `limit`. All that it started has ended when this returns, if the kernel
/// lists a process's children. Makes syscalls, and none that can fail on purpose: own calls of syscost (OwnCalls).
ContainedRun run_contained(const std::function<std::string()>& code, std::chrono::nanoseconds limit);

}  // namespace syscost::session
