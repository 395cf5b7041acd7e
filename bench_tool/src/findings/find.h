// SPDX-License-Identifier: MIT
//
// Looks for findings in the windows of a RUN.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "findings/finding.h"
#include "model/dataset.h"
#include "model/group.h"
#include "stats/window_summary.h"

namespace syscost::bench::findings {

struct FindOptions {
  std::set<std::string, std::less<>> ignored;  ///< Names of rules that are left out.
};

/// Looks at one window after the other; sorts and counts at the end.
class Finder {
 public:
  explicit Finder(FindOptions options = {}) : options_(std::move(options)) {}

  /// True if rules look at windows of this kind. A scope is a part of its test, and a tool counts again what syscost
  /// counts.
  static bool looks_at(const stats::WindowSummary& window);
  void add(const model::Dataset& data, const model::Group& group, const stats::WindowSummary& summary);
  /// Once, at the end.
  Findings take();

 private:
  FindOptions options_;
  Findings findings_;
};

/// All of `groups`, which belong to `data`.
Findings find(const model::Dataset& data, const std::vector<model::Group>& groups, FindOptions options = {});

}  // namespace syscost::bench::findings
