// SPDX-License-Identifier: MIT
#include "adapters/benchmark/figures.h"

#include <algorithm>
#include <cmath>

namespace syscost::benchmark_adapter {
namespace {

/// Calls, or entries where the backend knows no more.
std::uint64_t calls_of(const Cost& cost, const std::string& name) {
  const Unavailable* why_no_calls = cost.calls("*").unavailable();
  const bool knows_calls = why_no_calls == nullptr || !why_no_calls->is_beyond_backend;
  std::uint64_t calls = 0;
  for (const SyscallCost& syscall : cost.syscalls()) {
    if (!name.empty() && syscall.name != name) continue;
    calls += knows_calls ? syscall.calls + syscall.no_return : syscall.entries;
  }
  return calls;
}

/// The passes that figures are made of: the growing ones but the very first, which holds lazy initialisation, and the
/// last.
std::vector<const Pass*> telling_passes(const Record& record) {
  std::vector<const Pass*> passes;
  const std::size_t growing = record.passes.size() - std::max<std::size_t>(record.repetitions, 1);
  for (std::size_t i = 1; i < growing; ++i) passes.push_back(&record.passes[i]);
  passes.push_back(&record.passes.back());
  return passes;
}

Figure figure_of_syscall(const std::vector<const Pass*>& passes, const std::string& name) {
  std::vector<std::uint64_t> iterations;
  std::vector<std::uint64_t> counts;
  for (const Pass* pass : passes) {
    iterations.push_back(pass->iterations);
    counts.push_back(calls_of(pass->cost, name));
  }
  return figure_of(iterations, counts);
}

}  // namespace

Figure figure_of(const std::vector<std::uint64_t>& iterations, const std::vector<std::uint64_t>& counts) {
  const auto long_iterations = static_cast<double>(iterations.back());
  const auto long_count = static_cast<double>(counts.back());
  Figure figure{long_count / long_iterations, std::nullopt};
  if (iterations.front() >= iterations.back()) return figure;
  const double slope =
      (long_count - static_cast<double>(counts.front())) / (long_iterations - static_cast<double>(iterations.front()));
  const double start = long_count - slope * long_iterations;
  // Whole calls: a line that misses a count by less than half a call is the line.
  const double fixed = std::round(start);
  if (slope < 0 || fixed < 0) return figure;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const double expected = start + slope * static_cast<double>(iterations[i]);
    if (std::abs(expected - static_cast<double>(counts[i])) >= 0.5) return figure;
  }
  figure.fixed = static_cast<std::uint64_t>(fixed);
  figure.per_iteration = (long_count - fixed) / long_iterations;
  return figure;
}

std::optional<Figures> figures_of(const Record& record) {
  if (record.why_not.has_value() || record.passes.empty() || record.passes.back().iterations == 0) return std::nullopt;
  const std::vector<const Pass*> passes = telling_passes(record);
  for (const Pass* pass : passes) {
    // Where events were lost there are only lower bounds.
    if (!pass->cost.available() || pass->cost.lost().value_or(1) != 0) return std::nullopt;
  }
  Figures figures;
  figures.all = figure_of_syscall(passes, std::string());
  for (const SyscallCost& syscall : passes.back()->cost.syscalls()) {
    figures.by_syscall.push_back({syscall.name, figure_of_syscall(passes, syscall.name)});
  }
  return figures;
}

}  // namespace syscost::benchmark_adapter
