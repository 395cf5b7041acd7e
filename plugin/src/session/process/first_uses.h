// SPDX-License-Identifier: MIT
//
// First uses: work that the C library does once in a process, done before the first window.
//
// The first qsort of an array that is not small asks how much memory the machine has, and the ninth arena of malloc
// reads the list of processors. The test that comes first pays for it; in another order, or alone, another one does. So
// its count differs though its code does not. What is done here changes nothing that a program can see;
// docs/statistics.md lists what else a process does once, and why it stays where it is.
#pragma once

#include <string_view>

namespace syscost::session {

/// Makes the syscalls that the C library needs for it. Call it before main(): a program's own mallopt() must come later
/// than ours. A shared library that calls mallopt() as it is loaded comes earlier, and is overruled.
void do_first_uses();

/// The M_ARENA_MAX that malloc would find for itself on `processors` processors.
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
