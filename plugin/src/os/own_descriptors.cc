// SPDX-License-Identifier: MIT
#include "os/own_descriptors.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "os/high_fd.h"
#include "os/own_calls.h"

namespace syscost {
namespace {

// For the child side of fork(). Signal-safe by being lock-free.
// What the file is known by << 32 | kept by children << 31 | fd + 1; 0 = free.
std::array<std::atomic<std::uint64_t>, 64> g_descriptors{};

constexpr std::uint64_t kChildrenKeepIt = 1ULL << 31;

int fd_of(std::uint64_t entry) {
  return static_cast<int>(entry & (kChildrenKeepIt - 1)) - 1;
}

/// Device and inode in 32 bits, which differ for different files as good as always; 0: it cannot be told.
std::uint64_t known_by(int fd) {
  struct stat status {};
  // Not fstat(), which is another call in some libraries: a fork child's are known by number.
  if (own_call(SYS_fstat, fd, reinterpret_cast<long>(&status)) != 0) return 0;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return ((status.st_dev * kOdd + status.st_ino) * kOdd) >> 32 | 1;
}

bool is_unchanged(std::uint64_t entry) {
  return known_by(fd_of(entry)) == entry >> 32;
}

bool is_to_close(std::uint64_t entry) {
  return entry != 0 && (entry & kChildrenKeepIt) == 0;
}

void close_in_child() {
  // A child makes no call of ours unless it must.
  if (std::none_of(g_descriptors.begin(), g_descriptors.end(),
                   [](const std::atomic<std::uint64_t>& slot) { return is_to_close(slot.load()); })) {
    return;
  }
  const int saved = errno;
  begin_own_calls();
  for (auto& slot : g_descriptors) {
    const std::uint64_t entry = slot.exchange(0);
    if (is_to_close(entry) && is_unchanged(entry)) own_call(SYS_close, fd_of(entry));
  }
  end_own_calls();
  errno = saved;
}

}  // namespace

int keep_descriptor(int fd, InChildren in_children) {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, close_in_child);
  static_cast<void>(kRegistered);  // fails for lack of memory only; then a fork child keeps copies
  const int high = move_fd_high(fd);
  const std::uint64_t entry = known_by(high) << 32 | static_cast<std::uint32_t>(high + 1) |
                              (in_children == InChildren::kept ? kChildrenKeepIt : 0);
  for (auto& slot : g_descriptors) {
    // The test closed what had this number before.
    std::uint64_t former = slot.load();
    if (former != 0 && fd_of(former) == high) slot.compare_exchange_strong(former, 0);
  }
  for (auto& slot : g_descriptors) {
    std::uint64_t expected = 0;
    if (slot.compare_exchange_strong(expected, entry)) break;
  }
  return high;
}

bool is_still_ours(int fd) {
  for (auto& slot : g_descriptors) {
    const std::uint64_t entry = slot.load();
    if (entry == 0 || fd_of(entry) != fd) continue;
    errno = EBADF;
    return is_unchanged(entry);
  }
  errno = EBADF;
  return false;
}

void close_descriptor(int& fd) {
  for (auto& slot : g_descriptors) {
    std::uint64_t entry = slot.load();
    if (entry == 0 || fd_of(entry) != fd || !slot.compare_exchange_strong(entry, 0)) continue;
    if (is_unchanged(entry)) close(fd);
    break;
  }
  fd = -1;
}

}  // namespace syscost
