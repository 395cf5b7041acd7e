// SPDX-License-Identifier: MIT
//
// family_laws: the laws of a family, solved from the rows of its tests, and those that differ between two runs.
//
// A buffer that got lost is `1 per 4096 bytes -> 1 per byte`, not `+ 61 432 write`.
#pragma once

#include <string>
#include <vector>

#include "model/dataset.h"
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

/// A law that differs between two runs.
struct LawChange {
  std::string family;   ///< As NEW prints it.
  std::string title;    ///< `write`
  std::string old_law;  ///< `ceil(bytes/4096)`
  std::string new_law;
  std::string old_rate;  ///< `1 per 4096 bytes`; both rates are empty if one law has none.
  std::string new_rate;
};

/// The counts that have a law on both sides, where OLD's law does not reproduce NEW's counts, nor NEW's those of OLD. A
/// syscall that one side does not make at all has the law 0 there.
std::vector<LawChange> law_changes(const std::vector<Family>& old_families, const std::vector<Family>& new_families);

/// `write: 1 per 4096 bytes -> 1 per byte`, or the laws themselves.
std::string text_of(const LawChange& change);

}  // namespace syscost::bench::scale
