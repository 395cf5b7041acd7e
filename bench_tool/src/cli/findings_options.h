// SPDX-License-Identifier: MIT
//
// The options of `bench findings`.
#pragma once

#include <string>
#include <vector>

namespace syscost::bench::cli {

struct FindingsOptions {
  bool lists_rules = false;          ///< --rules
  std::vector<std::string> ignored;  ///< --ignore: names of rules.
  std::vector<std::string> fail_on;  ///< --fail-on: names of rules, or `any`.
  bool has_notes = false;            ///< --notes: those, too.
  std::string artifacts;             ///< --artifacts: the folder of traces; empty = the one beside each CSV.
};

}  // namespace syscost::bench::cli
