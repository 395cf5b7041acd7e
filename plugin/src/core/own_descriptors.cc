// SPDX-License-Identifier: MIT
#include "core/own_descriptors.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/high_fd.h"
#include "core/own_calls.h"

namespace syscost {
namespace {

// For the child side of fork(). Signal-safe by being lock-free.
// Socket's inode << 32 | fd + 1; without an inode it is one of BPF's; 0 = free.
std::array<std::atomic<std::uint64_t>, 64> g_descriptors{};

int fd_of(std::uint64_t entry) {
  return static_cast<int>(static_cast<std::uint32_t>(entry)) - 1;
}

std::uint64_t socket_inode(int fd) {
  struct stat status {};
  // Not fstat(), which is another call in some libraries: a fork child's are known by number.
  return own_call(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0 && S_ISSOCK(status.st_mode)
             ? status.st_ino & 0xffffffff
             : 0;
}

/// Without /proc the answer is no, and a descriptor is left open rather than a user's closed. Signal-safe.
bool is_bpf_descriptor(int fd) {
  char path[40] = "/proc/self/fd/";
  std::to_chars_result end = std::to_chars(path + sizeof "/proc/self/fd/" - 1, path + sizeof path - 1, fd);
  *end.ptr = 0;
  char target[32];
  constexpr std::string_view kKind = "anon_inode:bpf";
  ssize_t length = readlink(path, target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length)).substr(0, kKind.size()) == kKind;
}

bool is_unchanged(std::uint64_t entry) {
  const std::uint64_t inode = entry >> 32;
  return inode != 0 ? socket_inode(fd_of(entry)) == inode : is_bpf_descriptor(fd_of(entry));
}

void close_in_child() {
  const int saved = errno;
  begin_own_calls();
  for (auto& slot : g_descriptors) {
    const std::uint64_t entry = slot.exchange(0);
    if (entry != 0 && is_unchanged(entry)) own_call(SYS_close, fd_of(entry));
  }
  end_own_calls();
  errno = saved;
}

}  // namespace

int keep_descriptor(int fd) {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, close_in_child);
  static_cast<void>(kRegistered);  // fails for lack of memory only; then a fork child keeps copies
  const int high = move_fd_high(fd);
  const std::uint64_t entry = socket_inode(high) << 32 | static_cast<std::uint32_t>(high + 1);
  for (auto& slot : g_descriptors) {
    std::uint64_t expected = 0;
    if (slot.compare_exchange_strong(expected, entry)) break;
  }
  return high;
}

bool is_still_ours(int fd) {
  for (auto& slot : g_descriptors) {
    const std::uint64_t entry = slot.load();
    if (entry != 0 && fd_of(entry) == fd) return is_unchanged(entry);
  }
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
