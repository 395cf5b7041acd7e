// SPDX-License-Identifier: MIT
//
// The processes below this one, as /proc has them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>

namespace syscost::bench::faults {

/// The children of `top`, their children, and so on. Left out: `top` itself, all that is below a process of `spared`,
/// and processes that have ended.
std::set<pid_t> processes_below(pid_t top, const std::set<pid_t>& spared = {});

struct KilledTree {
  std::uint64_t processes = 0;  ///< That were alive at the first look.
  bool is_gone = true;          ///< False: one is left after some seconds, for example inside a driver.
};

/// Kills and reaps all processes below this one, but for `spared` and what is below these. This process must be a
/// subreaper, so that it becomes their parent.
KilledTree kill_processes_below(const std::set<pid_t>& spared = {});

}  // namespace syscost::bench::faults
