// SPDX-License-Identifier: MIT
//
// The processes below this one, as /proc has them, by the numbers that this process knows them by: in a PID namespace
// /proc may be that of an outer one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>

namespace syscost::bench::faults {

/// The children of this process, their children, and so on. Left out: the processes of `spared` with all that is below
/// them, and processes that have ended.
std::set<pid_t> processes_below(const std::set<pid_t>& spared = {});

struct KilledTree {
  std::uint64_t processes = 0;  ///< That were alive at the first look.
  bool is_gone = true;          ///< False: one is left after some seconds, for example inside a driver.
  bool is_listed = true;        ///< False: /proc does not show this process, so it is not known which one is left.
};

/// Why one is left.
std::string not_killed(const KilledTree& killed);

/// Kills and reaps all processes below this one, but for `spared` and what is below these. This process must be a
/// subreaper, so that it becomes their parent.
KilledTree kill_processes_below(const std::set<pid_t>& spared = {});

}  // namespace syscost::bench::faults
