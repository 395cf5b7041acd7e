// SPDX-License-Identifier: MIT
//
// Syscalls of several stretches of memory. For the stub of dispatch, too, which may include this folder alone.
#pragma once

#include <sys/syscall.h>

#include <cstdint>

namespace syscost {

/// True if argument 2 of this syscall of the native ABI is a list of iovec, and argument 3 their number. Together they
/// are all that the call moves: not those of process_vm_readv, which has two lists.
constexpr bool has_stretches(std::uint64_t number) {
  switch (number) {
    case SYS_readv:
    case SYS_writev:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_preadv2:
    case SYS_pwritev2:
    case SYS_vmsplice:
      return true;
    default:
      return false;
  }
}

}  // namespace syscost
