// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "judge/time_verdict.h"
#include "simulation.h"
#include "stats/significance.h"

namespace syscost::bench::simulation {
namespace {

using judge::TimeSamples;
using judge::TimeVerdict;
using judge::Verdict;

constexpr std::size_t kLooks = 4;
constexpr std::size_t kSlowed = 0;  // which test the slowdown is of

/// Draws times of tests around 1 ms.
class Clock {
 public:
  Clock(const TimesSetup& setup, std::uint64_t seed) : setup_(setup), random_(seed) {}

  double draw(double factor) {
    std::normal_distribution<double> scatter(0, setup_.noise);
    const double undisturbed_ns = 1e6 * factor * std::exp(scatter(random_));
    switch (setup_.noise_kind) {
      case Noise::disturbed: {
        std::uniform_real_distribution<double> share(0, 1);
        return share(random_) < 0.1 ? undisturbed_ns * (1 + 2 * share(random_)) : undisturbed_ns;
      }
      case Noise::ticks: {
        const double tick_ns = 1e6 * setup_.noise / 2;
        return std::round(undisturbed_ns / tick_ns) * tick_ns;
      }
      case Noise::process:
      case Noise::normal:
        break;
    }
    return undisturbed_ns;
  }

 private:
  const TimesSetup& setup_;
  std::mt19937_64 random_;
};

/// Brings every test of the family up to `samples` on each side.
void measure(Clock& clock, const TimesSetup& setup, std::size_t samples, std::vector<TimeSamples>& family) {
  for (std::size_t test = 0; test < family.size(); ++test) {
    const double old_factor = setup.noise_kind == Noise::process ? clock.draw(1e-6) : 1.0;
    const double new_factor = test == kSlowed ? setup.slowdown : 1.0;
    while (family[test].old_ns.size() < samples) {
      family[test].old_ns.push_back(clock.draw(old_factor));
      family[test].new_ns.push_back(clock.draw(new_factor));
    }
  }
}

bool is_decided(const TimeVerdict& one) {
  return one.verdict != Verdict::inconclusive && one.verdict != Verdict::insufficient;
}

std::vector<TimeVerdict> compare_once(Clock& clock, const TimesSetup& setup) {
  std::vector<TimeSamples> family(setup.tests);
  judge::TimeLimits limits;
  if (!setup.has_looks) {
    measure(clock, setup, setup.samples, family);
    return judge::judge_times(family, limits);
  }
  stats::InterimAnalysis look = stats::first_look(setup.samples, setup.tests, limits.alpha);
  for (std::size_t taken = 1;; ++taken) {
    measure(clock, setup, look.rounds, family);
    limits.shares = look.shares;
    std::vector<TimeVerdict> verdicts = judge::judge_times(family, limits);
    if (taken == kLooks || std::all_of(verdicts.begin(), verdicts.end(), is_decided)) return verdicts;
    look = stats::next_look(look);
  }
}

}  // namespace

std::string_view to_string(Noise noise) {
  static constexpr std::array<std::string_view, 4> kNames = {"normal", "disturbed", "ticks", "process"};
  return kNames[static_cast<std::size_t>(noise)];
}

TimesResult simulate_times(const TimesSetup& setup, std::size_t comparisons, std::uint64_t seed) {
  Clock clock(setup, seed);
  TimesResult result;
  for (; result.comparisons < comparisons; ++result.comparisons) {
    const std::vector<TimeVerdict> verdicts = compare_once(clock, setup);
    bool has_regression = false;
    bool has_improvement = false;
    for (std::size_t test = 0; test < verdicts.size(); ++test) {
      if (setup.slowdown != 1.0 && test == kSlowed) {
        result.found += verdicts[test].verdict == Verdict::regressed ? 1 : 0;
        continue;
      }
      has_regression = has_regression || verdicts[test].verdict == Verdict::regressed;
      has_improvement = has_improvement || verdicts[test].verdict == Verdict::improved;
    }
    result.with_false_regression += has_regression ? 1 : 0;
    result.with_false_improvement += has_improvement ? 1 : 0;
  }
  return result;
}

}  // namespace syscost::bench::simulation
