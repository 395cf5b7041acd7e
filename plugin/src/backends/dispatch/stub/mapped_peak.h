// SPDX-License-Identifier: MIT
//
// The most memory that the process has mapped, with --syscost_leaks: the kernel is asked after each counted call that
// maps memory.
//
// What calls ask for does not say it: MAP_FIXED replaces mappings, and munmap may release what is not mapped. The
// kernel's own number stands in /proc/self/statm. Reading it is a call that the program does not make, so it is made
// only while no seccomp filter may kill the process for it (mapped_peak.h of the backend).
#pragma once

#include <atomic>
#include <cstdint>

namespace syscost::signal_safe {

struct MappedPeakState {
  int statm;                 ///< Descriptor of /proc/self/statm; -1: nothing is asked. Set between windows.
  std::uint64_t most_pages;  ///< Since the window began; 0 = no counted call mapped memory.
  std::uint64_t unknown;     ///< Not 0: the kernel was not asked each time, or did not answer.
};

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::MappedPeakState syscost_mapped_peak;
}
// NOLINTEND(readability-identifier-naming)

namespace syscost::signal_safe {

/// Asks the kernel.
void note_mapped_pages();

/// From now on the kernel is not asked. True if it was, until now: then the caller waits (wait_for_calls_of_ours()).
bool stop_noting_mapped();

/// After a counted call that has mapped memory, or may have.
__attribute__((always_inline)) inline void note_mapped() {
  if (std::atomic_ref(syscost_mapped_peak.statm).load(std::memory_order_relaxed) >= 0) [[unlikely]]
    note_mapped_pages();
}

}  // namespace syscost::signal_safe
