// SPDX-License-Identifier: MIT
#include "stats/kernel_split.h"

#include <map>
#include <string_view>

namespace syscost::bench::stats {

std::optional<KernelSplit> split_kernel_time(const Comparison& row) {
  if (!row.is_paired() || row.counted == nullptr) return std::nullopt;
  struct Side {
    double calls = 0;
    double ns = 0;

    double mean() const { return calls > 0 ? ns / calls : 0; }
  };
  struct Both {
    Side before;
    Side now;
  };
  std::map<std::string_view, Both> syscalls;
  for (const WindowSummary* window : {row.old_window, row.new_window}) {
    for (const SyscallSummary& one : window->syscalls) {
      if (one.is_wait) continue;
      const CallFigures& figures = row.tells_per_run ? one : one.with_per_run();
      if (!figures.latency_count || !figures.kernel_ns) return std::nullopt;
      Both& both = syscalls[one.name];
      Side& side = window == row.old_window ? both.before : both.now;
      side = {figures.latency_count->median, figures.kernel_ns->median};
    }
  }
  KernelSplit split;
  for (const auto& [name, both] : syscalls) {
    // A syscall that was not made before has no earlier mean, so all its time is due to more calls.
    const double mean = both.before.calls > 0 ? both.before.mean() : both.now.mean();
    split.more_calls_ns += (both.now.calls - both.before.calls) * mean;
    split.slower_calls_ns += both.now.calls * (both.now.mean() - mean);
  }
  return split;
}

}  // namespace syscost::bench::stats
