// SPDX-License-Identifier: MIT
//
// First uses: makes the C library do its once-only work before the first window.
//
// The first qsort of an array that is not small reads how much memory the machine has, and the ninth arena of malloc
// reads the list of processors. The test that runs first pays for it, so its count depends on the order of the tests,
// although its code does not change. The work done here changes nothing that a program can see. docs/statistics.md
// lists the other work that a process does once, and why it stays where it is.
#pragma once

#include <string_view>

namespace syscost::session {

/// Does this work. Call it before main(): a program's own mallopt() must come after ours, so that it wins. If a shared
/// library calls mallopt() while it is loaded, that is earlier, and ours wins.
void do_first_uses();

/// The M_ARENA_MAX that malloc computes on `processors` processors.
constexpr int most_arenas(int processors) {
  // glibc allows 8 a processor (64 bits). It looks for the limit only when there are 9 arenas, and then keeps these.
  constexpr int kForEachProcessor = 8;
  constexpr int kBeforeItLooks = 9;
  const int limit = kForEachProcessor * processors;
  return limit > kBeforeItLooks ? limit : kBeforeItLooks;
}

/// True if the malloc of this version of glibc ("2.41") counts all processors, as get_nprocs() does. Some releases from
/// 2.34 to 2.38 count the processors that the process may use; distributions changed that back (glibc bug 30945).
bool arenas_follow_get_nprocs(std::string_view version);

}  // namespace syscost::session
