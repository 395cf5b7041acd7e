// SPDX-License-Identifier: MIT
//
// What commands say of calls that faults answered or changed (column `injected`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/dataset.h"
#include "stats/verdict.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// `3 calls were answered or changed by faults`.
std::string injected_line(std::uint64_t calls);

/// Adds them up over the windows of a run.
class InjectedCalls {
 public:
  void add(const stats::WindowSummary& window);
  /// `3 calls were answered or changed by faults, in 2 tests: A.x, B.y`; "" if there are none.
  std::string text() const;

 private:
  std::uint64_t calls_ = 0;
  std::vector<std::string> names_;
};

/// The values of --syscost_inject in the run; "" if it was not given.
std::string inject_rules(const model::Dataset& data);

/// The name of these rules in a baseline.
inline constexpr const char* kInjectSurrounding = "inject";

/// One of two runs, or a baseline.
struct InjectedSide {
  std::string name;   ///< `NEW`
  std::string rules;  ///< Of inject_rules().
};

/// Warnings about rows that are not compared because of faults (stats/faults.h).
std::vector<std::string> injected_warnings(const std::vector<stats::Comparison>& rows, const InjectedSide& before,
                                           const InjectedSide& after);

}  // namespace syscost::bench::commands
