// SPDX-License-Identifier: MIT
//
// Rule: what bench looks for in a window, what data that needs, and what to do about it.
//
// The table of rules is the one place that says what a rule is: `bench findings --rules` prints it, and a test holds
// docs/findings.md against it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/window_calls.h"

namespace syscost::bench::findings {

/// The data that a rule reads.
enum class Needs {
  counts,   ///< How often each syscall was called; every backend has it.
  results,  ///< Errors, too; seccomp sees none.
  bytes,    ///< And bytes; CSVs before schema 7 and seccomp have none.
};

/// What a rule saw in a window.
struct Hit {
  std::string syscall;
  std::string site;
  std::string evidence;
  double cost_ns = 0;
};

struct Rule {
  std::string_view name;   ///< `tiny-writes`
  std::string_view title;  ///< `many small writes`
  Needs needs = Needs::counts;
  std::string_view definition;  ///< When it fires, with its thresholds.
  std::string_view remedy;
  /// Looks at the counts of a window.
  std::vector<Hit> (*in_counts)(const WindowCalls&) = nullptr;
};

/// All rules, in the order of docs/findings.md.
std::span<const Rule> rules();
/// Null if there is none of this name.
const Rule* rule_of(std::string_view name);

}  // namespace syscost::bench::findings
