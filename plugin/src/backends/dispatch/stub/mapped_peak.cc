// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/mapped_peak.h"

#include <sys/syscall.h>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/trace_strings.h"

namespace syscost::signal_safe {
namespace {

/// Of "24203 1707 1552 59 0 21838 0\n" (proc_pid_statm(5)): all mapped pages. 0: the text is not of this kind, so the
/// descriptor is another file.
std::uint64_t mapped_in(const char* text, long length) {
  constexpr int kFields = 7;
  std::uint64_t fields[kFields] = {};
  int field = 0;
  bool has_digit = false;
  for (long i = 0; i < length; ++i) {
    const char one = text[i];
    const bool is_last = field == kFields - 1;
    if (one >= '0' && one <= '9') {
      fields[field] = fields[field] * 10 + static_cast<std::uint64_t>(one - '0');
      has_digit = true;
    } else if (has_digit && one == ' ' && !is_last) {
      ++field;
      has_digit = false;
    } else if (has_digit && one == '\n' && is_last) {
      // The fifth and the last one are always 0. No more can be resident than is mapped.
      return i + 1 == length && fields[4] == 0 && fields[6] == 0 && fields[0] >= fields[1] ? fields[0] : 0;
    } else {
      return 0;
    }
  }
  return 0;
}

}  // namespace

void note_mapped_pages() {
  constexpr long kRoom = 160;  // seven numbers of at most 20 digits
  char text[kRoom];
  std::uint64_t pages = 0;
  {
    const Copying calling;
    // Read after the announcement.
    if (const int statm = std::atomic_ref(syscost_mapped_peak.statm).load(); statm >= 0) {
      const long length = syscost_raw_syscall(SYS_pread64, statm, reinterpret_cast<long>(text), kRoom, 0);
      pages = mapped_in(text, length);
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
