// SPDX-License-Identifier: MIT
#include "judge/evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syscost::bench::judge {
namespace {

// A gambler of belief d thinks that NEW's counts have the distribution function F^d if OLD's have F (Lehmann's
// alternative): NEW lies above OLD d times as often as below. The rate of false reds does not depend on these numbers,
// because each bet is fair. Two believe in 8, the least effect that 20 runs a side can tell; two in its square, for
// counts that hardly vary. One of each looks from above.
constexpr std::array kBeliefs = {8.0, 64.0};

// "Not red" misses a change at most once in so many.
constexpr double kMissedOnceIn = 20;

// The smallest change that is worth a red: so many calls, or this share of OLD's count, whichever is more.
constexpr double kSmallestChange = 3;
constexpr double kSmallestPart = 10;

/// The least s from 0 to `top` for which `is_so` holds, if it holds for `top` and for all above the least.
template <class IsSo>
std::optional<std::int64_t> least(double upper, IsSo is_so) {
  auto top = static_cast<std::int64_t>(std::ceil(std::max(upper, 0.0)));
  if (!is_so(top)) return std::nullopt;
  std::int64_t below = -1;
  while (top - below > 1) {
    const std::int64_t middle = below + (top - below) / 2;
    (is_so(middle) ? top : below) = middle;
  }
  return top;
}

}  // namespace

double arrangements(std::size_t n, std::size_t m) {
  double all = 1;
  for (std::size_t i = 1; i <= n; ++i) all = all * static_cast<double>(m + i) / static_cast<double>(i);
  return all;
}

Gamblers::Gamblers(const std::vector<SeenRun>& seen) {
  for (const SeenRun& run : seen) ++(run.is_new ? seen_[run.count].of_new : seen_[run.count].of_old);
}

/// How many times likelier it is that the run just made is NEW's than OLD's. `by_count`: the runs before, by ascending
/// count; the run has the count at `at`. The ratio of two products over ranks, in which ties share theirs evenly.
double Gamblers::odds(const std::vector<Sides>& by_count, std::size_t at, double belief) {
  double old_before = 0;
  double new_before = 0;
  for (std::size_t i = 0; i < at; ++i) {
    old_before += by_count[i].of_old;
    new_before += by_count[i].of_new;
  }
  double ratio = belief;
  double old_if_new = old_before;
  double new_if_new = new_before;
  double old_if_old = old_before;
  double new_if_old = new_before;
  for (std::size_t i = at; i < by_count.size(); ++i) {
    const double of_old = by_count[i].of_old;
    const double of_new = by_count[i].of_new;
    const double one = i == at ? 1 : 0;
    const double size = of_old + of_new + one;
    for (int k = 1; k <= size; ++k) {
      const double part = k / size;
      ratio *= ((old_if_old + (of_old + one) * part) + belief * (new_if_old + of_new * part)) /
               ((old_if_new + of_old * part) + belief * (new_if_new + (of_new + one) * part));
    }
    old_if_old += of_old + one;
    new_if_old += of_new;
    old_if_new += of_old;
    new_if_new += of_new + one;
  }
  return ratio;
}

void Gamblers::bet(SeenRun run) {
  seen_.try_emplace(run.count);
  std::vector<Sides> from_below;
  std::size_t at = 0;
  for (const auto& [count, sides] : seen_) {
    if (count == run.count) at = from_below.size();
    from_below.push_back(sides);
  }
  std::vector<Sides> from_above;
  for (auto i = from_below.rbegin(); i != from_below.rend(); ++i) from_above.push_back({i->of_new, i->of_old});
  const std::size_t at_from_above = from_below.size() - 1 - at;
  for (std::size_t i = 0; i < kBeliefs.size(); ++i) {
    const double of_new = odds(from_below, at, kBeliefs[i]);
    const double of_old = odds(from_above, at_from_above, kBeliefs[i]);
    stakes_[2 * i] *= 2.0 * (run.is_new ? of_new : 1.0) / (of_new + 1.0);
    stakes_[2 * i + 1] *= 2.0 * (run.is_new ? 1.0 : of_old) / (of_old + 1.0);
  }
  ++(run.is_new ? seen_[run.count].of_new : seen_[run.count].of_old);
}

double Gamblers::evidence() const {
  return (stakes_[0] + stakes_[1] + stakes_[2] + stakes_[3]) / 4.0;
}

Doubt::Doubt(std::vector<SeenRun> first, std::size_t doubts, std::size_t budget)
    : first_(std::move(first)), doubts_(doubts), budget_(budget), gamblers_(first_) {}

Doubt::Range Doubt::range_of(bool is_new) const {
  Range range;
  for (const std::vector<SeenRun>* runs : {&first_, &runs_}) {
    for (const SeenRun& run : *runs) {
      if (run.is_new != is_new) continue;
      range.least = range.runs == 0 ? run.count : std::min(range.least, run.count);
      range.most = range.runs == 0 ? run.count : std::max(range.most, run.count);
      ++range.runs;
    }
  }
  return range;
}

/// So many that one of their orders comes by chance once in 20: C(old + new, new) >= 20.
bool Doubt::has_enough_runs() const {
  return arrangements(range_of(false).runs, range_of(true).runs) >= kMissedOnceIn;
}

bool Doubt::is_small_change_excluded() const {
  const double least_old = range_of(false).least;
  return has_enough_runs() &&
         kSmallestPart * (range_of(true).most - least_old) < std::max(kSmallestChange * kSmallestPart, least_old);
}

Decision Doubt::add(SeenRun run) {
  gamblers_.bet(run);
  runs_.push_back(run);
  const double evidence = gamblers_.evidence();
  const auto left = static_cast<int>(budget_ - std::min(budget_, runs_.size()));
  if (evidence >= needed() || decision_ == Decision::red) return decision_ = Decision::red;
  if (evidence * kMissedOnceIn <= 1 || (evidence <= 1 && is_small_change_excluded())) {
    return decision_ = Decision::not_red;
  }
  // Each run doubles the evidence at most.
  const bool would_not_suffice = std::ldexp(evidence, left) < needed() && has_enough_runs();
  return decision_ = left == 0 || would_not_suffice ? Decision::in_doubt : Decision::go_on;
}

/// The evidence if each run of NEW had counted so many `more`. `is_mirrored`: for fewer calls of NEW.
double Doubt::replay(bool is_mirrored, std::int64_t more) const {
  const auto changed = [&](SeenRun run) {
    if (run.is_new) run.count += static_cast<double>(more);
    run.is_new = run.is_new != is_mirrored;
    return run;
  };
  std::vector<SeenRun> first;
  for (const SeenRun& run : first_) first.push_back(changed(run));
  Gamblers gamblers(first);
  for (const SeenRun& run : runs_) gamblers.bet(changed(run));
  return gamblers.evidence();
}

double Doubt::evidence_for_fewer() const {
  return replay(true, 0);
}

std::optional<std::int64_t> Doubt::told_from() const {
  return least(range_of(false).most - range_of(true).least + 1,
               [&](std::int64_t more) { return replay(false, more) >= needed(); });
}

std::optional<std::int64_t> Doubt::grew_by_less_than() const {
  return least(range_of(true).most - range_of(false).least + 1,
               [&](std::int64_t fewer) { return replay(true, -fewer) >= kMissedOnceIn; });
}

}  // namespace syscost::bench::judge
