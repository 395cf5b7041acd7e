// SPDX-License-Identifier: MIT
//
// How often counts in doubt are decided rightly where both sides run again.
#include <array>
#include <cmath>
#include <random>

#include "judge/evidence.h"
#include "simulation.h"

namespace syscost::bench::simulation {
namespace {

constexpr std::size_t kMostRuns = 40;

class Machine {
 public:
  Machine(Varies varies, Around around, std::mt19937_64& random) : varies_(varies), around_(around), random_(random) {}

  /// The count of the next run, with `more` calls if it is NEW's.
  double run(bool is_new, double more) {
    double load = 1;
    double extra = 0;
    switch (around_) {
      case Around::quiet:
        break;
      case Around::load:
        level_ = 0.8 * level_ + 0.6 * std::normal_distribution<>()(random_);
        load = std::exp(0.3 * level_);
        break;
      case Around::drift:
        load = 1 + 0.05 * static_cast<double>(runs_);
        break;
      case Around::alternates:
        extra = static_cast<double>(runs_ % 2);
        break;
      case Around::left_over:
        extra = was_new_ ? 1 : 0;
        break;
    }
    ++runs_;
    was_new_ = is_new;
    return std::round(count(load)) + extra + (is_new ? more : 0);
  }

 private:
  double chance() { return std::uniform_real_distribution<>()(random_); }
  double count(double load) {
    switch (varies_) {
      case Varies::never:
        return 20;
      case Varies::by_one:
        return chance() < 0.2 * load ? 21 : 20;
      case Varies::by_2:
        return std::normal_distribution<>(1000 * load, 20 * load)(random_);
      case Varies::by_4:
        return std::normal_distribution<>(1000 * load, 40 * load)(random_);
      case Varies::by_10:
        return std::normal_distribution<>(1000 * load, 100 * load)(random_);
      case Varies::heavy_tail:
        return 100 + 3 * load * std::pow(1 - chance(), -1 / 1.5);
    }
    return 0;
  }

  Varies varies_;
  Around around_;
  std::mt19937_64& random_;
  double level_ = 0;
  std::size_t runs_ = 0;
  bool was_new_ = false;
};

}  // namespace

std::string_view to_string(Varies varies) {
  static constexpr std::array<std::string_view, 6> kNames = {"never", "+1 in 20 %", "2 %", "4 %", "10 %", "heavy tail"};
  return kNames[static_cast<std::size_t>(varies)];
}

std::string_view to_string(Around around) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "a quiet machine", "load from run to run", "a drift of 5 %", "every second run +1", "a run after NEW's +1"};
  return kNames[static_cast<std::size_t>(around)];
}

DoubtsResult simulate_doubts(Varies varies, Around around, double more, std::size_t doubts, std::size_t gates,
                             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  DoubtsResult result;
  for (std::size_t gate = 0; gate < gates; ++gate) {
    Machine machine(varies, around, random);
    const double first_old = machine.run(false, more);
    const double first_new = machine.run(true, more);
    if (first_old == first_new) {
      ++result.equal;
      continue;
    }
    judge::Doubt doubt({{first_old, false}, {first_new, true}}, doubts, kMostRuns);
    while (doubt.decision() == judge::Decision::go_on) {
      const bool is_new = random() >> 63U != 0;
      doubt.add({machine.run(is_new, more), is_new});
    }
    result.runs += doubt.runs();
    ++(doubt.decision() == judge::Decision::red       ? result.red
       : doubt.decision() == judge::Decision::not_red ? result.not_red
                                                      : result.in_doubt);
  }
  return result;
}

}  // namespace syscost::bench::simulation
