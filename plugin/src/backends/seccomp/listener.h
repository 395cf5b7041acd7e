// SPDX-License-Identifier: MIT
//
// Listener: the kernel's half of seccomp user notification, in plain functions.
//
// A thread under the filter that makes a selected syscall stops at its entry. The kernel queues a notification; the
// process that holds the listener descriptor receives it and answers. Our answer is "continue": the kernel makes the
// call as if there were no filter. Only a rule by which calls fail (fault_judge.h) has another one.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "os/errors.h"

namespace syscost::seccomp {

/// Puts the calling thread, and with `all_threads` the whole process, under `program` for good. Returns the listener,
/// or a negative errno. Sets no_new_privs if the kernel requires it. Allocates nothing. `is_wait_killable` (null = not
/// asked): true if no signal interrupts a call that has been received (Linux 5.19); before, a signal does, and the call
/// is received again.
int install_filter(const std::vector<sock_filter>& program, bool all_threads, bool* is_wait_killable = nullptr);

/// Why install_filter() failed, for people.
Failure explain_install_failure(int error);

/// Fails if the kernel has no user notification, or a container's seccomp profile denies it.
Result<void> check_user_notification();

/// Thread ids are below this on every Linux (PID_MAX_LIMIT).
inline constexpr std::size_t kThreadIds = 4U << 20;

/// A call that is waiting for an answer.
struct Notification {
  std::uint64_t id = 0;
  std::int32_t thread = 0;  ///< In the receiver's PID namespace; 0 = not visible there.
  std::uint32_t arch = 0;   ///< AUDIT_ARCH_...
  std::uint32_t number = 0;
  std::uint64_t arguments[6] = {};
  std::uint64_t instruction = 0;  ///< Its address, or the next one's.
};

/// Memory for a notification of the kernel, larger than that of any kernel so far. All bytes must be 0 before
/// receive().
struct Mailbox {
  alignas(8) char bytes[512];

  /// The id of the notification in it; 0 = it is empty.
  std::uint64_t id() const;
  void clear();
};

/// Waits for a notification. False if a signal interrupts it, or if the notified call has ended. Clear `mailbox` after
/// you answered it.
bool receive(int listener, Mailbox& mailbox, Notification& notification);

/// Lets the call continue. False if it has ended meanwhile.
bool let_continue(int listener, std::uint64_t id);

/// The call is not made, and returns `result`: a value, or -errno. False if it has ended meanwhile.
bool answer(int listener, std::uint64_t id, std::int64_t result);

/// Asks the kernel to wake the receiver on the caller's CPU, which takes a fifth of the time (Linux 6.6). An older
/// kernel ignores it.
void ask_for_synchronous_wakeup(int listener);

/// True if no living task is under the filter any more.
bool has_hung_up(int listener);

}  // namespace syscost::seccomp
