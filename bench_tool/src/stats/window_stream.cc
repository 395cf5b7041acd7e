// SPDX-License-Identifier: MIT
#include "stats/window_stream.h"

#include <algorithm>
#include <utility>

namespace syscost::bench::stats {
namespace {

// Enough for some threads, and not more than their caches hold.
constexpr std::size_t kAtOnce = 128;

}  // namespace

void for_each_summary(const model::Dataset& data, const std::vector<model::Group>& groups, bool per_iteration,
                      const std::function<void(std::size_t, WindowSummary&&)>& take) {
  for (std::size_t begin = 0; begin < groups.size(); begin += kAtOnce) {
    const std::size_t end = std::min(groups.size(), begin + kAtOnce);
    const std::vector<model::Group> some(groups.begin() + static_cast<std::ptrdiff_t>(begin),
                                         groups.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<WindowSummary> windows = summarize_all(data, some, per_iteration);
    for (std::size_t i = 0; i < windows.size(); ++i) take(begin + i, std::move(windows[i]));
  }
}

}  // namespace syscost::bench::stats
