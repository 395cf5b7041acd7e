// SPDX-License-Identifier: MIT
#include "os/memory_room.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "os/files.h"
#include "os/own_mappings.h"
#include "os/own_memory.h"

namespace syscost {
namespace {

constexpr std::size_t kShare = 10;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? kNoLimit : limit.rlim_cur;
}

bool is_limited() {
  return limit_of(RLIMIT_AS) != kNoLimit || limit_of(RLIMIT_DATA) != kNoLimit;
}

/// In bytes; 0 if that cannot be read.
std::uint64_t room() {
  std::array<char, 256> text{};
  const Descriptor file = open_regular("/proc/self/statm");
  if (!file.is_open() || read(file.number(), text.data(), text.size() - 1) <= 0) return 0;
  // Pages, by proc_pid_statm(5): of the address space, 4 others, and of data with stack.
  std::array<std::uint64_t, 6> pages{};
  const char* at = text.data();
  for (std::uint64_t& one : pages) {
    char* end = nullptr;
    one = std::strtoull(at, &end, 10);
    if (end == at) return 0;
    at = end;
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto left = [&](std::uint64_t limit, std::uint64_t used) {
    return limit == kNoLimit ? kNoLimit : limit - std::min(limit, used * page);
  };
  return std::min(left(limit_of(RLIMIT_AS), pages[0]), left(limit_of(RLIMIT_DATA), pages[5]));
}

/// Of a thread that the program starts without a word about its size.
std::size_t usual_stack() {
  pthread_attr_t usual;
  if (pthread_getattr_default_np(&usual) != 0) return 0;
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&usual, &bytes);
  pthread_attr_destroy(&usual);
  return bytes;
}

}  // namespace

std::size_t fitting_reserve(std::size_t wanted, std::size_t least) {
  return !is_limited() || wanted <= room() / kShare ? wanted : least;
}

bool is_no_room_for_thread_because_of_us() {
  if (!is_limited()) return false;
  const std::size_t bytes = usual_stack();
  void* const stack = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack != MAP_FAILED) {
    munmap(stack, bytes);
    return false;
  }
  note_own_libraries();
  MemorySizes sizes;
  const auto by_libc = [](long number, long a, long b, long c, long d, long e, long f) {
    const long result = syscall(number, a, b, c, d, e, f);
    return result == -1 ? -static_cast<long>(errno) : result;
  };
  return !measure_memory(by_libc, sizes) || room() + sizes.ours >= bytes;
}

}  // namespace syscost
