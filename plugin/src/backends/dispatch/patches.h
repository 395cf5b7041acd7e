// SPDX-License-Identifier: MIT
//
// Patches: call sites that reach the stub by a jump instead of a signal.
//
// Each patched site jumps to a trampoline of its own, mapped within reach of a near jump: the displaced instruction,
// the way back in rcx, and the stub. Other threads may be running the very bytes, so they are changed the way
// just-in-time compilers do it: first a two-byte jump to itself, on which a thread that comes by waits, then the rest,
// then the first two bytes, each step made known to every processor by membarrier. Nothing at address 0 is mapped; page
// protections are put back at once; all is undone by undo(). Trampolines stay for ever: a thread may be in one.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "backends/dispatch/sites.h"

namespace syscost::dispatch {

class Patches {
 public:
  /// Why nothing can be patched here, found out by looking: a sanitizer, a tracer, shadow stacks, ...; empty = it can.
  static std::string obstacle();

  Patches() = default;
  ~Patches() { undo(); }
  Patches(const Patches&) = delete;
  Patches& operator=(const Patches&) = delete;

  /// Patches what was trapped since the last call and can be proven safe. Makes syscalls, none of them dispatched.
  /// Returns why nothing can be patched here, or nothing.
  std::string patch_trapped();
  void undo();

 private:
  struct Done {
    Site site;
    std::array<unsigned char, kJumpBytes> before;
  };

  /// Null, or why not.
  const char* patch(const Site& site);
  std::string map_trampolines();

  std::vector<Done> done_;
  unsigned char* trampolines_ = nullptr;
  std::size_t used_bytes_ = 0;
};

}  // namespace syscost::dispatch
