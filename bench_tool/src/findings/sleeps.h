// SPDX-License-Identifier: MIT
//
// Sleeps of a window: which of them wait for an event that could have woken the thread? And the rules about them.
//
// A sleep alone proves nothing: a test of a timer has to sleep. Two forms do prove something. A thread that sleeps,
// looks, finds nothing and sleeps again waits for what it looks for. And a thread that sleeps and then connects, while
// the server has listened for most of that time, could have connected earlier.
#pragma once

#include <vector>

#include "findings/traced_window.h"

namespace syscost::bench::findings {

/// A sleep before a connect, to a server that listened before the sleep was over.
struct Overslept {
  const TracedCall* sleep = nullptr;
  double needless_ns = 0;  ///< From the listen, or the sleep's begin, to the sleep's end.
};

struct Sleeps {
  std::vector<const TracedCall*> polled;  ///< In rows, with a look in between that finds nothing.
  std::vector<Overslept> overslept;
  std::vector<const TracedCall*> others;  ///< All that are in neither of these.
};

/// True for a sleep that is over: nanosleep and its relatives, and a poll or select that waits for nothing but its
/// time.
bool is_sleep(const TracedWindow& window, const TracedCall& call);

Sleeps sleeps_of(const TracedWindow& window);

}  // namespace syscost::bench::findings
