// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "judge/row_times.h"
#include "simulation.h"

namespace syscost::bench::simulation {
namespace {

using judge::Comparison;
using judge::Verdict;
using stats::WindowSummary;

/// Draws wall and processor times of one repetition of a test on a machine that does other things, too.
class BusyMachine {
 public:
  BusyMachine(const CpuSetup& setup, std::uint64_t seed) : setup_(setup), random_(seed) {}

  WindowSummary window(std::size_t samples, double factor) {
    WindowSummary one;
    one.name = "S.T";
    one.kind = "test";
    one.n = samples;
    one.calls = stats::Spread{samples, 0, 0, 0};
    one.lost = 0;
    one.cpu.least_ns = UINT64_MAX;
    for (std::size_t i = 0; i < samples; ++i) take(one, factor);
    one.cpu_ns = stats::spread_of(one.cpu.times_ns);
    one.wall_ns = stats::spread_of(one.times_ns);
    return one;
  }

 private:
  void take(WindowSummary& one, double factor) {
    std::normal_distribution<double> scatter(0, setup_.noise);
    std::exponential_distribution<double> waits(1 / setup_.waits);
    const double cpu_ns = setup_.cpu_ns * factor * std::exp(scatter(random_));
    // It begins anywhere between two steps of the clock, which shows the last one that was reached.
    const double begin_ns = std::uniform_real_distribution<double>(0, setup_.step_ns)(random_);
    const auto seen_ns = static_cast<std::uint64_t>(std::floor((begin_ns + cpu_ns) / setup_.step_ns) * setup_.step_ns);
    one.times_ns.push_back(cpu_ns * (1 + waits(random_)));
    one.cpu.times_ns.push_back(static_cast<double>(seen_ns));
    one.cpu.step_ns = std::gcd(one.cpu.step_ns, seen_ns);
    one.cpu.least_ns = std::min(one.cpu.least_ns, seen_ns);
  }

  const CpuSetup& setup_;
  std::mt19937_64 random_;
};

}  // namespace

CpuResult simulate_cpu(const CpuSetup& setup, std::size_t comparisons, std::uint64_t seed) {
  BusyMachine machine(setup, seed);
  CpuResult result;
  for (; result.comparisons < comparisons; ++result.comparisons) {
    std::vector<WindowSummary> windows;
    for (std::size_t test = 0; test < setup.tests; ++test) {
      windows.push_back(machine.window(setup.samples, 1));
      windows.push_back(machine.window(setup.samples, test == 0 ? setup.slowdown : 1));
    }
    std::vector<Comparison> rows;
    for (std::size_t test = 0; test < setup.tests; ++test) {
      rows.push_back(judge::compare_windows(&windows[2 * test], &windows[2 * test + 1], {}));
    }
    judge::judge_row_times(rows, {}, {});
    const bool is_slowed = setup.slowdown != 1.0;
    const auto alarms = [&](bool (Comparison::*has)(Verdict) const) {
      return std::any_of(rows.begin() + (is_slowed ? 1 : 0), rows.end(),
                         [&](const Comparison& row) { return (row.*has)(Verdict::regressed); });
    };
    result.false_by_wall += alarms(&Comparison::has_wall_verdict) ? 1 : 0;
    result.false_by_cpu += alarms(&Comparison::has_cpu_verdict) ? 1 : 0;
    result.found_by_wall += is_slowed && rows[0].has_wall_verdict(Verdict::regressed) ? 1 : 0;
    result.found_by_cpu += is_slowed && rows[0].has_cpu_verdict(Verdict::regressed) ? 1 : 0;
    for (const Comparison& row : rows) result.not_judged += row.cpu && !row.cpu->ratio ? 1 : 0;
  }
  return result;
}

}  // namespace syscost::bench::simulation
