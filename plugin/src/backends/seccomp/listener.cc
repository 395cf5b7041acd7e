// SPDX-License-Identifier: MIT
#include "backends/seccomp/listener.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>

#include "os/confinement.h"

// Newer than the oldest headers we build with (Linux 5.7, 5.19, 6.6).
#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

namespace syscost::seccomp {
namespace {

long seccomp(unsigned operation, unsigned long flags, void* argument) {
  return syscall(SYS_seccomp, operation, flags, argument);
}

bool send(int listener, const seccomp_notif_resp& response) {
  union {
    seccomp_notif_resp response;
    char room[512];
  } buffer;
  std::memset(&buffer, 0, sizeof buffer);
  buffer.response = response;
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &buffer) == 0;
}

}  // namespace

int install_filter(const std::vector<sock_filter>& program, bool all_threads, bool* is_wait_killable) {
  sock_fprog described{static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
  unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  if (all_threads) flags |= SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  for (;;) {
    const long listener = seccomp(SECCOMP_SET_MODE_FILTER, flags, &described);
    if (listener >= 0) {
      if (is_wait_killable != nullptr) *is_wait_killable = (flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) != 0;
      return static_cast<int>(listener);
    }
    if (errno == EINVAL && (flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) != 0) {
      flags &= ~SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    } else if (errno == EACCES && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) {
      // Without CAP_SYS_ADMIN a filter may not reach a program that gains privileges.
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    } else {
      return -errno;
    }
  }
}

Failure explain_install_failure(int error) {
  switch (error) {
    case EBUSY:
      return {
          "another program already receives this process's seccomp notifications (a container manager, a program that "
          "measures and started this one, or the test itself), and the kernel allows one listener",
          "use another backend, or run without that program"};
    case ESRCH:
      return {"a thread of this process has its own seccomp filter, so syscost's filter cannot reach all threads",
              "start measuring before such threads (syscost::gtest_main does), or use another backend"};
    case ENOSYS:
    case EOPNOTSUPP:
      return {
          "seccomp(2) or its user notification does not exist here: an old kernel, a sandbox or a seccomp profile "
          "hides it",
          "use Linux 5.9 or newer, and allow seccomp and prctl in the container's seccomp profile"};
    case EPERM:
    case EACCES:
      return {"a seccomp profile or a security module denies this process a seccomp filter",
              "allow seccomp and prctl in the container's seccomp profile (Docker's does), or run without one: " +
                  no_seccomp_setting(read_confinement().container)};
    default:
      return errno_failure("install", "a seccomp filter with a listener", error);
  }
}

Result<void> check_user_notification() {
  if (std::optional<Failure> lacking = missing_under_valgrind("seccomp(2)")) return *std::move(lacking);
  seccomp_notif_sizes sizes{};
  __u32 action = SECCOMP_RET_USER_NOTIF;
  if (seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0 || seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) {
    return explain_install_failure(errno);
  }
  // It closes nothing here. The supervisor uses the call to separate its files from this process's.
  if (syscall(SYS_close_range, UINT_MAX, UINT_MAX, 0U) != 0) {
    Failure failure = errno_failure("call", "close_range", errno);
    failure.how_to_fix =
        "use Linux 5.9 or newer, and allow close_range in the container's seccomp profile (Docker's does)";
    return failure;
  }
  return {};
}

std::uint64_t Mailbox::id() const {
  std::uint64_t id = 0;
  std::memcpy(&id, bytes + offsetof(seccomp_notif, id), sizeof id);
  return id;
}

void Mailbox::clear() {
  std::memset(bytes, 0, sizeof bytes);
}

bool receive(int listener, Mailbox& mailbox, Notification& notification) {
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, mailbox.bytes) != 0) return false;
  seccomp_notif received{};
  std::memcpy(&received, mailbox.bytes, sizeof received);
  notification.id = received.id;
  notification.thread = static_cast<std::int32_t>(received.pid);
  notification.arch = received.data.arch;
  notification.number = static_cast<std::uint32_t>(received.data.nr);
  notification.instruction = received.data.instruction_pointer;
  std::copy(std::begin(received.data.args), std::end(received.data.args), std::begin(notification.arguments));
  return true;
}

bool let_continue(int listener, std::uint64_t id) {
  return send(listener, {.id = id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

bool answer(int listener, std::uint64_t id, std::int64_t result) {
  // The kernel puts either into the result's register.
  return send(listener, {.id = id, .val = result, .error = 0, .flags = 0});
}

void ask_for_synchronous_wakeup(int listener) {
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

bool has_hung_up(int listener) {
  pollfd state{listener, 0, 0};
  return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace syscost::seccomp
