// SPDX-License-Identifier: MIT
//
// CostAccess: the numbers of a Cost, for the parts of libsyscost that pass them on.
#pragma once

#include "core/cost_data.h"
#include "syscost/cost.h"

namespace syscost::detail {

struct CostAccess {
  /// Null when the cost is not available.
  static const CostData* data(const Cost& cost) { return cost.data_.get(); }
};

}  // namespace syscost::detail
