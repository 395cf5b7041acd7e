// SPDX-License-Identifier: MIT
//
// Silent windows: a set-up, a tear-down or a child's program without a call has no row. Where others of its name have
// rows, in another repetition or process, it is a repetition with 0 calls.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::model {

/// The suites of which a process ran tests.
class SuitesThatRan {
 public:
  /// Notes a window, also one that is left out.
  void note(Dataset& data, const Sample& key);

  /// Adds the silent ones to `data`, whose runs are those that were asked for.
  void add_silent_windows(Dataset& data) const;

 private:
  /// Context, process id, suite, repetition.
  using Place = std::tuple<std::uint32_t, std::uint64_t, NameId, std::uint32_t>;

  std::vector<Place> places_;  ///< Each once, if the tests of a suite follow each other.
};

}  // namespace syscost::bench::model
