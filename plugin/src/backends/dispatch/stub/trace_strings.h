// SPDX-License-Identifier: MIT
//
// Copies the strings that a trace keeps, by the kernel.
//
// A string may be gone before it is copied: another thread unmaps its page, another process cuts the file that the page
// is of. So no instruction of ours reads it. process_vm_readv copies it, and fails where there is nothing to read. That
// call is one that the program does not make: a seccomp filter may kill the process for it. So strings are copied only
// if the call has been tried (string_copies.h), and no more once the program may install another filter.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/trace_buffer.h"

namespace syscost::signal_safe {

struct CopyState {
  bool are_possible;        ///< Set between windows; cleared by stop_copies().
  bool has_no_filter;       ///< No seccomp filter was there when copies became possible.
  bool may_ask_kinds;       ///< Calls of ours (file_kinds.h) meet no filter. Set between windows.
  bool may_be_filtered;     ///< The program may have installed a filter: faults make no calls of their own. Stays.
  std::uint64_t under_way;  ///< By all threads.
};

/// While it exists, a thread that is about to install a filter waits.
class Copying {
 public:
  Copying();
  ~Copying();
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

  /// After its construction: so either it sees that copies have been stopped, or who stops them sees it.
  static bool is_allowed();
};

/// Copies memory of the program. False if not all of it can be read. Only if Copying::is_allowed().
bool copy_from(std::uint64_t address, void* into, std::uint64_t bytes);

/// Copies the string at `address` into the texts of `units`, of which there are kTextUnits, and returns how many it
/// takes. 0 if it cannot be read, or must not be.
std::uint32_t put_string(TraceUnit* units, std::uint64_t address, unsigned argument);

/// From now on no string is copied. Waits for the copies that other threads have begun; not for ever, because a
/// debugger may have stopped such a thread.
void stop_copies();

/// The calling thread is about to make a call that may install a seccomp filter: as stop_copies(), and from now on
/// nothing of the stub makes a call for a question (file_kinds.h, mapped_peak.h, fault_files.h) or for a delay
/// (faults.h).
void stop_calls_of_ours();

/// Waits, not for ever, for what other threads have begun.
void wait_for_calls_of_ours();

/// As stop_calls_of_ours(), if a call by another way than the usual one (int $0x80, x32) may install a filter.
void note_unusual_call(std::uint64_t abi, std::uint64_t number);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::CopyState syscost_string_copies;
}
// NOLINTEND(readability-identifier-naming)
