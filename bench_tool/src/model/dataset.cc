// SPDX-License-Identifier: MIT
#include "model/dataset.h"

#include <algorithm>

#include "csv/printable.h"

namespace syscost::bench::model {

void Dataset::make_printable() {
  names.make_printable();
  name = csv::printable(name);
  for (std::string& file : files) file = csv::printable(file);
}

void Dataset::index() {
  // A writer keeps a window's rows together, so the sort is almost always only the check.
  auto by_sample = [](const SyscallRow& a, const SyscallRow& b) { return a.sample < b.sample; };
  if (!std::is_sorted(rows.begin(), rows.end(), by_sample)) std::stable_sort(rows.begin(), rows.end(), by_sample);
  row_begin_.assign(samples.size() + 1, rows.size());
  for (std::size_t i = rows.size(); i-- > 0;) row_begin_[rows[i].sample] = i;
  for (std::size_t i = samples.size(); i-- > 0;) row_begin_[i] = std::min(row_begin_[i], row_begin_[i + 1]);
}

}  // namespace syscost::bench::model
