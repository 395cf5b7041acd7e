// SPDX-License-Identifier: MIT
//
// First uses: work that the C library does once in a process, done before the first window.
//
// The first qsort of an array that is not small asks how much memory the machine has, and the ninth arena of malloc
// reads the list of processors. The test that comes first pays for it; in another order, or alone, another one does. So
// its count differs though its code does not. What is here changes nothing that a program can see;
// docs/statistics.md lists what else a process does once, and why it stays where it is.
#pragma once

#include <string_view>

namespace syscost::session {

/// Makes syscalls, as the C library needs them. To be called before main(), because a program's own mallopt() must come
/// later than ours.
void do_first_uses();

/// M_ARENA_MAX that has the same effect as none with `processors` processors.
constexpr int most_arenas(int processors) {
  // glibc allows 8 a processor (64 bits). It looks for the limit only when there are 9 arenas, and then keeps these.
  constexpr int kForEachProcessor = 8;
  constexpr int kBeforeItLooks = 9;
  const int limit = kForEachProcessor * processors;
  return limit > kBeforeItLooks ? limit : kBeforeItLooks;
}

/// True for a glibc of this version ("2.41") whose malloc counts the processors that are there, as get_nprocs() does.
/// From 2.34 to 2.38 some count those that the process may use, and distributions changed it back (glibc bug 30945).
bool arenas_follow_get_nprocs(std::string_view version);

}  // namespace syscost::session
