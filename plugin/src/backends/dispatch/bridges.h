// SPDX-License-Identifier: MIT
//
// Finds five bytes of padding for each short jump, and proves that nothing else executes them.
#pragma once

#include <vector>

#include "backends/dispatch/sites.h"

namespace syscost::dispatch {

/// A site that needs a bridge, and the padding where one may be.
struct BridgeWish {
  Site site;
  FunctionCode function;
  std::vector<Padding> between_functions;  ///< Near the site.
};

/// Sets `bridge` of each site that gets one.
void find_bridges(const Text& text, FindFunction find, std::vector<BridgeWish>& wishes);

}  // namespace syscost::dispatch
