// SPDX-License-Identifier: MIT
//
// Patches: call sites that reach the stub by a jump instead of a signal.
//
// Each patched site jumps to a trampoline of its own, mapped within reach of a near jump: the displaced instruction,
// the way back in rcx, and the stub. Other threads may be running the very bytes, so whole pages are replaced
// (code_pages.h); where the kernel refuses that, calls go on being trapped. Nothing at address 0 is mapped; all is
// undone by undo(). Trampolines stay for ever: a thread may be in one.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "backends/dispatch/code_pages.h"
#include "backends/dispatch/sites.h"

namespace syscost::dispatch {

class Patches {
 public:
  /// Why nothing can be patched here, found out by looking: a sanitizer, a tracer, ...; empty = it can.
  static std::string obstacle();

  Patches() = default;
  ~Patches() { undo(); }
  Patches(const Patches&) = delete;
  Patches& operator=(const Patches&) = delete;

  /// Patches what was trapped since the last call and can be proven safe. Makes syscalls, none of them dispatched.
  /// Returns why nothing can be patched here, or nothing.
  std::string patch_trapped();
  /// Puts libc's code back. A jump that the kernel does not let us take away stays; the stub goes on serving it.
  void undo();

 private:
  /// A page of libc with jumps in it.
  struct PatchedPage {
    unsigned char* start = nullptr;
    std::array<unsigned char, kPage> original = {};
    std::vector<Site> sites;
    bool is_of_file = false;
  };

  std::string reserve_trampolines();
  /// Writes the trampoline of `site` into the copy of the trampolines; returns the jump to it.
  std::array<unsigned char, kJumpBytes> add_trampoline(const Site& site);
  /// Why the trampolines from `first_byte` on could not be put into place, or null.
  const char* show_trampolines(std::size_t first_byte);
  PatchedPage& page_of(const Site& site);

  std::vector<PatchedPage> pages_;
  unsigned char* trampolines_ = nullptr;
  std::vector<unsigned char> trampolines_copy_;
  std::size_t used_bytes_ = 0;
};

}  // namespace syscost::dispatch
