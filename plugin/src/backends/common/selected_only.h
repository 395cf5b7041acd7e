// SPDX-License-Identifier: MIT
//
// What a filter leaves out of what a backend counted. Backends that mark the numbers left out in a table do not count
// those at all; numbers beyond the table (Filter::kNumbers) they cannot tell apart, and count, so that these go when
// they are read.
#pragma once

#include "core/backend.h"
#include "core/filter.h"

namespace syscost {

/// True for a number beyond the table that `filter` leaves out; null = nothing is left out.
inline bool is_left_out_beyond_table(const Filter* filter, SyscallId id) {
  return filter != nullptr && id.number >= Filter::kNumbers && !filter->selects(id);
}

inline void clear_left_out(const Filter* filter, CallTable& table) {
  for (const auto& [id, tally] : table) {
    if (is_left_out_beyond_table(filter, id)) table.at(id).clear();
  }
}

/// Passes on what is not left out.
class SelectedCrossings final : public CrossingSink {
 public:
  SelectedCrossings(CrossingSink& sink, const Filter* filter) : sink_(sink), filter_(filter) {}
  void add(const Crossing& crossing) override {
    if (!is_left_out_beyond_table(filter_, crossing.id)) sink_.add(crossing);
  }

 private:
  CrossingSink& sink_;
  const Filter* filter_;
};

}  // namespace syscost
