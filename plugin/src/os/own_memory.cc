// SPDX-License-Identifier: MIT
//
// Runs inside the program's mlockall(), where no one saves vector registers: CMakeLists.txt compiles this file for
// general registers, as the stub is, and it calls nothing of libc.
#include "os/own_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace syscost {
namespace {

struct Stretch {
  std::atomic<std::uintptr_t> begin{0};  // 0 = free, or being written
  std::atomic<std::uintptr_t> end{0};
};
Stretch own_stretches[128];

struct Bytes {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// The first bytes of `bytes` that are the program's; none: begin == end.
Bytes first_of_program(Bytes bytes) {
  for (bool is_moved = true; is_moved && bytes.begin < bytes.end;) {
    is_moved = false;
    for (const Stretch& one : own_stretches) {
      const std::uintptr_t begin = one.begin.load();
      if (begin == 0 || bytes.begin < begin || bytes.begin >= one.end.load()) continue;
      bytes.begin = one.end.load();
      is_moved = true;
    }
  }
  if (bytes.begin >= bytes.end) return {bytes.end, bytes.end};
  for (const Stretch& one : own_stretches) {
    const std::uintptr_t begin = one.begin.load();
    if (begin > bytes.begin) bytes.end = std::min(bytes.end, begin);
  }
  return bytes;
}

/// Calls `body` for each mapping of this process: the beginning of a line is `7f00-7f10 r-xp`. False if they cannot be
/// read.
template <class Body>
bool for_each_mapping(RawCall call, Body body) {
  const long file =
      call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (file < 0) return false;
  char text[1024];
  long got = 0;
  std::uintptr_t words[2] = {0, 0};
  unsigned word = 0;  // 2 = the rest of the line
  while ((got = call(SYS_read, file, reinterpret_cast<long>(text), sizeof text, 0, 0, 0)) > 0) {
    for (long i = 0; i < got; ++i) {
      const char c = text[i];
      if (c == '\n') {
        word = 0;
        words[0] = words[1] = 0;
      } else if (word < 2 && (c == '-' || c == ' ')) {
        if (++word == 2) body(Bytes{words[0], words[1]});
      } else if (word < 2) {
        words[word] = words[word] * 16 + static_cast<std::uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      }
    }
  }
  call(SYS_close, file, 0, 0, 0, 0, 0);
  return got == 0;
}

}  // namespace

bool measure_memory(RawCall call, MemorySizes& sizes) {
  rlimit limit{};
  if (call(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, reinterpret_cast<long>(&limit), 0, 0) != 0) return false;
  sizes.limit = limit.rlim_cur;
  return for_each_mapping(call, [&](Bytes mapping) {
    const std::uint64_t all = mapping.end - mapping.begin;
    std::uint64_t of_program = 0;
    for (Bytes rest = mapping; rest.begin < rest.end;) {
      const Bytes part = first_of_program(rest);
      of_program += part.end - part.begin;
      rest.begin = part.end;
    }
    if (static_cast<std::intptr_t>(mapping.begin) < 0) return;  // the vsyscall page, which is no one's
    sizes.of_program += of_program;
    sizes.ours += all - of_program;
  });
}

void note_own_mapping(const void* start, std::size_t bytes) {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(start);
  for (Stretch& one : own_stretches) {
    std::uintptr_t none = 0;
    if (one.end.load() != 0 || !one.end.compare_exchange_strong(none, (begin + bytes + kPage - 1) & ~(kPage - 1)))
      continue;
    one.begin.store(begin);
    return;
  }
}

void forget_own_mapping(const void* start) {
  for (Stretch& one : own_stretches) {
    auto begin = reinterpret_cast<std::uintptr_t>(start);
    if (one.begin.compare_exchange_strong(begin, 0)) one.end.store(0);
  }
}

long lock_all_but_ours(unsigned long flags, RawCall call) {
  MemorySizes sizes;
  if (!measure_memory(call, sizes) || sizes.of_program > sizes.limit) return -ENOMEM;
  // For later mappings the limit is not asked here, so this part works as the program wants it.
  const unsigned long later = flags & ~static_cast<unsigned long>(MCL_CURRENT);
  const long result = (later & MCL_FUTURE) != 0 ? call(SYS_mlockall, static_cast<long>(later), 0, 0, 0, 0, 0)
                                                : call(SYS_munlockall, 0, 0, 0, 0, 0, 0);
  if (result != 0) return result;
  const long how = (flags & MCL_ONFAULT) != 0 ? MLOCK_ONFAULT : 0;
  // As in mlockall, what cannot be filled, for example PROT_NONE, is no failure.
  const bool is_read = for_each_mapping(call, [&](Bytes mapping) {
    for (Bytes rest = mapping; rest.begin < rest.end;) {
      const Bytes part = first_of_program(rest);
      if (part.begin < part.end)
        call(SYS_mlock2, static_cast<long>(part.begin), static_cast<long>(part.end - part.begin), how, 0, 0, 0);
      rest.begin = part.end;
    }
  });
  return is_read ? 0 : -ENOMEM;
}

}  // namespace syscost
