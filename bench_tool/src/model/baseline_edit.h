// SPDX-License-Identifier: MIT
//
// Changes the lines of some windows in a baseline's text, and leaves all others as they are, byte for byte: who accepts
// the change of one test does not want to review the rest.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/baseline.h"

namespace syscost::bench::model {

struct BaselineEdit {
  BaselineWindow window;
  bool is_removal = false;
};

/// Why lines of `window` cannot stand beside those that `told` is of; "" if they can.
std::string why_not_beside(const BaselineWindow& window, const BaselineTold& told);

/// `text` is a baseline that parse_baseline() reads, `told` is of its windows. `classes`: those of the new windows.
std::string edited(std::string_view text, const BaselineTold& told, std::vector<BaselineEdit> edits,
                   const std::map<std::string, std::string>& classes);

}  // namespace syscost::bench::model
