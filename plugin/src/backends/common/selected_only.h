// SPDX-License-Identifier: MIT
//
// Drops counts that the filter does not select.
//
// A backend marks the numbers that the filter leaves out in a table, and does not count them. A number beyond the table
// (Filter::kNumbers) has no mark, so the backend counts it. These counts are dropped when they are read.
#pragma once

#include "core/backend.h"
#include "core/filter.h"

namespace syscost {

/// True for a number beyond the table that `filter` does not select; null = it selects everything.
inline bool is_unselected_beyond_table(const Filter* filter, SyscallId id) {
  return filter != nullptr && id.number >= Filter::kNumbers && !filter->selects(id);
}

/// Clears what `table` has of such numbers.
inline void drop_unselected(const Filter* filter, CallTable& table) {
  for (const auto& [id, tally] : table) {
    if (is_unselected_beyond_table(filter, id)) table.at(id).clear();
  }
}

/// Passes on the crossings that `filter` selects.
class SelectedCrossings final : public CrossingSink {
 public:
  SelectedCrossings(CrossingSink& sink, const Filter* filter) : sink_(sink), filter_(filter) {}
  void add(const Crossing& crossing) override {
    if (!is_unselected_beyond_table(filter_, crossing.id)) sink_.add(crossing);
  }

 private:
  CrossingSink& sink_;
  const Filter* filter_;
};

}  // namespace syscost
