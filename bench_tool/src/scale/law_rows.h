// SPDX-License-Identifier: MIT
//
// From the rows of a family's tests to counts over sizes, and their laws.
#pragma once

#include <vector>

#include "model/dataset.h"
#include "model/group.h"
#include "scale/families.h"

namespace syscost::bench::scale {

/// The samples of one size; all can be used.
struct SizedGroup {
  Size size{};
  model::Group group;
};

/// Solves every count of `family`, which has its sizes already. `groups` are in the order of its sizes.
std::vector<LawRow> law_rows_of(const model::Dataset& data, const std::vector<SizedGroup>& groups,
                                const Family& family);

}  // namespace syscost::bench::scale
