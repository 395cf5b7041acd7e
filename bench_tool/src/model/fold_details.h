// SPDX-License-Identifier: MIT
//
// Details away: a run that tells calls of one syscall apart (--syscost_detail) beside one that does not.
//
// Held against each other as they are, the plain run's row would be gone and each detail new. Added up, the details are
// that row: they are disjoint.
#pragma once

#include "model/dataset.h"

namespace syscost::bench::model {

/// True when some `syscall` row says which calls of its syscall it holds.
bool has_details(const Dataset& data);

/// Adds the details of each syscall of a sample up into one row. Percentiles stay right: histograms add up too.
void fold_details(Dataset& data);

}  // namespace syscost::bench::model
