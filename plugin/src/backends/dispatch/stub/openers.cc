// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/openers.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

#include "backends/dispatch/stub/user_memory.h"

// In newer headers only.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

namespace syscost::signal_safe {
namespace {

void set(std::uint64_t descriptor, std::uint32_t stack) {
  if (descriptor < kOpeners) {
    std::atomic_ref(syscost_where_state.openers->of_descriptor[descriptor]).store(stack, std::memory_order_relaxed);
  }
}

/// The two ends that the kernel has just stored at `address`.
void set_pair(std::uint64_t address, std::uint32_t stack) {
  std::uint32_t ends[2];
  if (!read_user(address, ends)) return;
  set(ends[0], stack);
  set(ends[1], stack);
}

/// A thread or a child. In a child itself the result is 0.
void note_started(std::uint64_t id, std::uint32_t stack) {
  if (id == 0) return;
  Openers& openers = *syscost_where_state.openers;
  const std::uint64_t at = std::atomic_ref(openers.started).fetch_add(1, std::memory_order_relaxed);
  std::atomic_ref(openers.of_started[at % kStarters]).store(id << 32 | stack, std::memory_order_relaxed);
}

void forget(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t one = first; one <= std::min<std::uint64_t>(last, kOpeners - 1); ++one) set(one, 0);
}

}  // namespace

void note_descriptors(const Call& call, std::uint32_t stack) {
  if (call.abi != 0) return;
  const Arguments& given = call.given;
  switch (call.number) {
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
    case SYS_open_by_handle_at:
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_socket:
    case SYS_accept:
    case SYS_accept4:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_timerfd_create:
    case SYS_signalfd:
    case SYS_signalfd4:
    case SYS_inotify_init:
    case SYS_inotify_init1:
    case SYS_fanotify_init:
    case SYS_memfd_create:
    case SYS_memfd_secret:
    case SYS_userfaultfd:
    case SYS_perf_event_open:
    case SYS_io_uring_setup:
    case SYS_pidfd_open:
    case SYS_pidfd_getfd:
    case SYS_mq_open:
    case SYS_open_tree:
    case SYS_fsopen:
    case SYS_fspick:
    case SYS_fsmount:
    case SYS_landlock_create_ruleset:
      return set(call.result, stack);
    case SYS_pipe:
    case SYS_pipe2:
      return set_pair(given.rdi, stack);
    case SYS_socketpair:
      return set_pair(given.r10, stack);
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
      return note_started(call.result, stack);
    case SYS_fcntl:
      if (given.rsi == F_DUPFD || given.rsi == F_DUPFD_CLOEXEC) set(call.result, stack);
      return;
    case SYS_close:
      return set(static_cast<std::uint32_t>(given.rdi), 0);
    case SYS_close_range:
      if ((given.rdx & CLOSE_RANGE_CLOEXEC) != 0) return;
      return forget(static_cast<std::uint32_t>(given.rdi), static_cast<std::uint32_t>(given.rsi));
    default:
      return;
  }
}

}  // namespace syscost::signal_safe
