// SPDX-License-Identifier: MIT
#include "stats/left_by_turn.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace syscost::bench::stats {

LeftByTurn left_by_turn(const model::Dataset& data, const model::Group& group, model::Measured model::Totals::*number) {
  using Process = std::pair<model::NameId, std::uint64_t>;
  std::map<Process, std::map<std::uint32_t, double>> left_in;  // of each process, by repetition
  for (const std::uint32_t index : group.samples) {
    const model::Sample& sample = data.samples[index];
    const model::Measured& left = sample.totals.*number;
    if (!left.has_value()) continue;
    left_in[{data.context(sample).run_id, sample.pid}].emplace(sample.repetition, static_cast<double>(*left));
  }
  LeftByTurn out;
  for (const auto& [process, turns] : left_in) {
    const double first = turns.begin()->second;
    if (turns.size() == 1) {
      out.unknown = std::max(out.unknown, first);
      continue;
    }
    double most = 0;
    for (auto later = std::next(turns.begin()); later != turns.end(); ++later) most = std::max(most, later->second);
    out.again = std::max(out.again, most);
    out.once = std::max(out.once, first - most);
  }
  if (out.unknown <= out.again + out.once) out.unknown = 0;
  return out;
}

}  // namespace syscost::bench::stats
