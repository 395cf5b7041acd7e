// SPDX-License-Identifier: MIT
#include "adapters/benchmark/figures.h"

#include <algorithm>

namespace syscost::benchmark_adapter {
namespace {

/// Calls, or entries where the backend knows no more: what column `total_calls` (`total_entries`) is the sum of, so
/// that the counters, the CSV and bench have one number. A thread's `exit` is an entry that no call came back from.
std::uint64_t calls_of(const Cost& cost, const std::string& name) {
  const Unavailable* why_no_calls = cost.calls("*").unavailable();
  const bool knows_calls = why_no_calls == nullptr || !why_no_calls->is_beyond_backend;
  std::uint64_t calls = 0;
  for (const SyscallCost& syscall : cost.syscalls()) {
    if (!name.empty() && syscall.name != name) continue;
    calls += knows_calls ? syscall.calls : syscall.entries;
  }
  return calls;
}

Figure figure_of_syscall(const std::vector<const Pass*>& passes, const std::string& name) {
  std::vector<std::uint64_t> iterations;
  std::vector<std::uint64_t> counts;
  for (const Pass* pass : passes) {
    iterations.push_back(pass->iterations);
    counts.push_back(calls_of(pass->cost, name));
  }
  return adapter::figure_of(iterations, counts);
}

}  // namespace

std::vector<const Pass*> shorter_passes(const Record& record) {
  std::vector<const Pass*> passes;
  const std::size_t growing = record.passes.size() - std::max<std::size_t>(record.repetitions, 1);
  for (std::size_t i = 1; i < growing; ++i) passes.push_back(&record.passes[i]);
  return passes;
}

std::optional<Figures> figures_of(const Record& record) {
  if (record.why_not.has_value() || record.passes.empty() || record.passes.back().iterations == 0) return std::nullopt;
  std::vector<const Pass*> passes = shorter_passes(record);
  passes.push_back(&record.passes.back());
  for (const Pass* pass : passes) {
    // Where events were lost there are only lower bounds.
    if (!pass->cost.available() || pass->cost.lost().value_or(1) != 0) return std::nullopt;
  }
  Figures figures;
  figures.all = figure_of_syscall(passes, std::string());
  for (const SyscallCost& syscall : passes.back()->cost.syscalls()) {
    if (calls_of(passes.back()->cost, syscall.name) == 0) continue;
    figures.by_syscall.push_back({syscall.name, figure_of_syscall(passes, syscall.name)});
  }
  return figures;
}

}  // namespace syscost::benchmark_adapter
