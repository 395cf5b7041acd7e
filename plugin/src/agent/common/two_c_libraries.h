// SPDX-License-Identifier: MIT
//
// A program into which nothing can be preloaded has two C libraries: its own, and the one that syscost-guest brings.
// Each keeps what belongs to a thread at the address in the fs register. So a thread is in one of two worlds: the
// program's, or the guest's. syscost-guest offers these functions to the agent, which it loads.
#pragma once

#include <cstdint>

namespace syscost::agent {

struct Worlds {
  /// An address for a slot of the program's: it goes over to the guest's world and calls `function` there with up to
  /// three arguments.
  std::uintptr_t (*entrance)(std::uintptr_t function);
  /// An address for a slot of the program's: it calls `seen` in the program's world, and then goes on to `original` as
  /// if nothing had been in between, so exceptions pass. `seen` must not use what belongs to a thread: no allocation,
  /// no errno.
  std::uintptr_t (*entrance_before)(std::uintptr_t seen, std::uintptr_t original);
  /// From the guest's world, calls a function of the program in the program's.
  void (*call_program)(std::uintptr_t function, std::uintptr_t first, std::uintptr_t second, std::uintptr_t third);
  /// Set by the agent: the word that is 0 while nothing is counted; null where there is none.
  std::uint64_t* (*control)();
};

/// The name of the object in syscost-guest.
constexpr const char* kWorldsSymbol = "syscost_worlds";

}  // namespace syscost::agent
