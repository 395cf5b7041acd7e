// SPDX-License-Identifier: MIT
#include "os/descriptors.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "os/errors.h"
#include "os/own_calls.h"

namespace syscost {

int move_fd_high(int fd) {
  rlimit limit{};
  rlim_t top = 1024;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) top = std::min(top, limit.rlim_cur);
  constexpr rlim_t kOurs = 32;
  if (top <= 2 * kOurs) return fd;
  int high = fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(top - kOurs));
  if (high < 0) return fd;
  close(fd);
  return high;
}

namespace {

// For the child side of fork(). Signal-safe by being lock-free.
// known_by() of the file << 32 | kept by children << 31 | fd + 1; 0 = free.
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

void PassedDescriptors::add(int descriptor) {
  SYSCOST_CHECK(count < kMost);
  descriptors[count++] = descriptor;
}

void PassedDescriptors::close_all() {
  for (const int descriptor : all()) close(descriptor);
  count = 0;
}

ssize_t send_passing(int socket, const void* message, std::size_t size, std::span<const int> descriptors, int flags) {
  SYSCOST_CHECK(descriptors.size() <= PassedDescriptors::kMost);
  iovec part{const_cast<void*>(message), size};  // NOLINT(cppcoreguidelines-pro-type-const-cast): sendmsg only reads
  alignas(cmsghdr) char control[CMSG_SPACE(PassedDescriptors::kMost * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t receive_passing(int socket, void* message, std::size_t size, PassedDescriptors* passed, int flags) {
  iovec part{message, size};
  alignas(cmsghdr) char control[CMSG_SPACE(PassedDescriptors::kMost * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (passed != nullptr) {
    *passed = {};
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return got;
  if (passed != nullptr) {
    const cmsghdr* rights = CMSG_FIRSTHDR(&header);
    if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      passed->count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      std::memcpy(passed->descriptors.data(), CMSG_DATA(rights), passed->count * sizeof(int));
    }
    passed->is_short = (header.msg_flags & MSG_CTRUNC) != 0;
  }
  if ((header.msg_flags & MSG_TRUNC) == 0) return got;
  if (passed != nullptr) passed->close_all();
  errno = EBADMSG;
  return -1;
}

namespace {

/// The failure of copies(), which promises errno.
Failure copies_failure(std::string_view operation, int error) {
  Failure failure = errno_failure(operation, "the socket that keeps descriptors", error);
  errno = error;
  return failure;
}

}  // namespace

void close_each(const std::vector<int>& descriptors) {
  for (const int descriptor : descriptors) close(descriptor);
}

Result<ParkedDescriptors> ParkedDescriptors::park(const std::vector<int>& descriptors) {
  SYSCOST_CHECK(!descriptors.empty() && descriptors.size() <= PassedDescriptors::kMost);
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    const int error = errno;
    close_each(descriptors);
    return errno_failure("open", "a socket that keeps descriptors", error);
  }
  const char byte = 0;
  const bool is_sent = send_passing(ends[0], &byte, 1, descriptors, 0) == 1;
  const int error = errno;
  close(ends[0]);
  close_each(descriptors);
  if (is_sent) return ParkedDescriptors(keep_descriptor(ends[1]));
  close(ends[1]);
  return errno_failure("keep", "descriptors in a socket", error);
}

ParkedDescriptors::ParkedDescriptors(int socket) : socket_(socket), owner_(getpid()) {}

ParkedDescriptors::ParkedDescriptors(ParkedDescriptors&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), owner_(other.owner_) {}

ParkedDescriptors& ParkedDescriptors::operator=(ParkedDescriptors&& other) noexcept {
  close_all();
  socket_ = std::exchange(other.socket_, -1);
  owner_ = other.owner_;
  return *this;
}

ParkedDescriptors::~ParkedDescriptors() {
  close_all();
}

Result<std::vector<int>> ParkedDescriptors::copies() {
  if (!is_still_ours(socket_)) {
    const int error = errno;
    if (error == EBADF) socket_ = -1;
    return copies_failure("find", error);
  }
  char byte = 0;
  PassedDescriptors found;
  if (receive_passing(socket_, &byte, 1, &found, MSG_PEEK | MSG_DONTWAIT) < 0) return copies_failure("read", errno);
  if (found.is_short) {
    found.close_all();
    return copies_failure("take copies out of", EMFILE);
  }
  return std::vector<int>(found.all().begin(), found.all().end());
}

void ParkedDescriptors::close_all() {
  if (socket_ < 0) return;
  // A child that ends like a whole program, destructors and all, must not take what is its parent's.
  if (getpid() == owner_ && is_still_ours(socket_)) {
    char byte = 0;
    PassedDescriptors taken;
    // Those that find no free number the kernel closes.
    static_cast<void>(receive_passing(socket_, &byte, 1, &taken, MSG_DONTWAIT));
    taken.close_all();
  }
  close_descriptor(socket_);
}

}  // namespace syscost
