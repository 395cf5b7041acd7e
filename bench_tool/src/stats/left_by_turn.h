// SPDX-License-Identifier: MIT
//
// LeftByTurn: what a window left open, by whether its process ran it again.
//
// A process makes some things once and keeps them: a pool of threads, a log, a library that is loaded at its first use.
// The first window that needs one leaves it. A process that runs the window once cannot tell it from a leak. If the
// process runs the window again, what is made once is not left again.
#pragma once

#include "model/dataset.h"
#include "model/group.h"

namespace syscost::bench::stats {

struct LeftByTurn {
  double again = 0;  ///< The most that a later repetition of a process left.
  double once = 0;   ///< The most that a process's first repetition left more than each later one of that process.
  double unknown =
      0;  ///< The most that the only repetition of a process left, unless the numbers above account for it.

  bool is_nothing() const { return again == 0 && once == 0 && unknown == 0; }
  /// What may be a leak: all that is not known to be made once.
  double limited() const { return again > unknown ? again : unknown; }
};

/// Of a number such as Totals::descriptors_left. Repetitions without it are left out.
LeftByTurn left_by_turn(const model::Dataset& data, const model::Group& group, model::Measured model::Totals::*number);

}  // namespace syscost::bench::stats
