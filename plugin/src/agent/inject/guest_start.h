// SPDX-License-Identifier: MIT
//
// Puts syscost-guest into a stopped process: its loader, mapped as the kernel would map it, and a stack with what the
// kernel would put there.
#pragma once

#include <string>
#include <vector>

#include "agent/inject/tracee.h"

namespace syscost::inject {

struct Guest {
  std::string path;
  std::vector<std::string> environment;
  std::uint64_t signals = 0;  ///< The signals that the program will have blocked.
};

/// Lets the process go with the guest in it. Empty where it did; else why not, and the process goes on alone. Where its
/// code cannot be put back, it does not go on: it ends with its tracer.
std::string start_guest(Tracee& tracee, const Guest& guest);

}  // namespace syscost::inject
