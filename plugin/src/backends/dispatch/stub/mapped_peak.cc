// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/mapped_peak.h"

#include <sys/syscall.h>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/trace_strings.h"

namespace syscost::signal_safe {
namespace {

/// The first number of the file: all mapped pages. 0: the text is no such number, so the descriptor is another file.
std::uint64_t first_number(const char* text, long length) {
  std::uint64_t number = 0;
  for (long i = 0; i < length; ++i) {
    if (text[i] == ' ') return number;
    if (text[i] < '0' || text[i] > '9') return 0;
    number = number * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  return 0;
}

}  // namespace

void note_mapped_pages() {
  constexpr long kRoom = 32;  // 2^52 pages have 16 digits
  char text[kRoom];
  std::uint64_t pages = 0;
  {
    const Copying calling;
    // Read after the announcement.
    if (const int statm = std::atomic_ref(syscost_mapped_peak.statm).load(); statm >= 0) {
      const long length = syscost_raw_syscall(SYS_pread64, statm, reinterpret_cast<long>(text), kRoom, 0);
      pages = first_number(text, length);
    }
  }
  if (pages == 0) {
    std::atomic_ref(syscost_mapped_peak.unknown).fetch_add(1);
    return;
  }
  std::atomic_ref most(syscost_mapped_peak.most_pages);
  std::uint64_t before = most.load(std::memory_order_relaxed);
  while (before < pages && !most.compare_exchange_weak(before, pages, std::memory_order_relaxed)) {
  }
}

bool stop_noting_mapped() {
  if (std::atomic_ref(syscost_mapped_peak.statm).exchange(-1) < 0) return false;
  std::atomic_ref(syscost_mapped_peak.unknown).fetch_add(1);
  return true;
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::MappedPeakState syscost_mapped_peak{-1, 0, 0};
}
// NOLINTEND(readability-identifier-naming)
