// SPDX-License-Identifier: MIT
#include "budgets/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/choice.h"
#include "stats/window_summary.h"
#include "syscost/histogram.h"

namespace syscost::bench::budgets {
namespace {

/// One thing that a budget limits.
struct Limited {
  std::string name;
  std::vector<Figure> now;
  std::vector<Figure> before;
  bool lacks_number = false;  ///< The number that it must have was not measured, now or for the baseline.
  /// Why `now` is at most what happened: it can exceed a limit, and cannot keep one. Empty: it is what happened.
  std::string at_most;
};

bool is_of_growth(const Budget& budget) {
  return budget.max_growth || budget.measure->needs_baseline;
}

/// Which windows did not count all calls of a budget, and why.
class Uncounted {
 public:
  explicit Uncounted(const Budget& budget) : budget_(budget) {}

  /// `events were lost`; "" if the window counted all of them.
  std::string reason(const stats::WindowSummary& window) {
    if (budget_.measure->calls == Calls::none) return {};
    for (const std::string_view filter : window.filters) {
      if (leaves_out(filter)) return fmt::format("only {} was counted", filter);
    }
    return std::string(stats::why_lower_bound(window));
  }

 private:
  bool leaves_out(std::string_view filter) {
    const auto [known, is_new] = left_out_.try_emplace(std::string(filter), false);
    if (is_new && !filter.empty()) {
      std::string fault;
      const auto counted = model::SyscallChoice::parse(filter, fault);
      const model::SyscallChoice everything;
      const model::SyscallChoice& wanted = budget_.measure->has_selector() ? budget_.choice : everything;
      known->second = !counted || !wanted.is_within(*counted);
    }
    return known->second;
  }

  const Budget& budget_;
  std::map<std::string, bool> left_out_;
};

std::vector<Figure> figures_of(const Budget& budget, const std::optional<Subject>& subject, const Subject* before) {
  return subject ? budget.measure->figures(*subject, before, budget.choice) : std::vector<Figure>();
}

/// True if each window of this kind has figures, unless they were not measured. Percentiles need enough calls, a peak
/// may be another window's, and what is in no baseline is a total of tests.
bool must_have_figures(const Measure& measure, std::string_view kind) {
  return measure.together == Together::sum && (measure.is_in_baseline || kind == "test");
}

std::vector<Limited> windows_of(const Budget& budget, const std::vector<BudgetedWindow>& windows) {
  std::vector<Limited> all;
  Uncounted uncounted(budget);
  for (const BudgetedWindow& window : windows) {
    if (!window.now || !budget.matches(window.kind, window.name, window.program)) continue;
    const Subject* before = window.before ? &*window.before : nullptr;
    Limited one{window.display, figures_of(budget, window.now, before), figures_of(budget, window.before, before),
                false, uncounted.reason(*window.now->window)};
    // A percentile of a part says nothing of the whole.
    if (budget.measure->together == Together::nothing && window.now->window->is_lower_bound()) one.now.clear();
    const bool is_comparable = before != nullptr || !budget.measure->needs_baseline;
    if (!is_comparable) one.at_most.clear();
    if (before != nullptr && is_of_growth(budget)) {
      // What is too little there would make this too much.
      if (std::string reason = uncounted.reason(*before->window); !reason.empty()) {
        one.before.clear();
        if (budget.measure->needs_baseline) one.now.clear();
        one.at_most = "in the baseline " + reason;
      }
    }
    one.lacks_number = must_have_figures(*budget.measure, window.kind) &&
                       ((one.now.empty() && is_comparable) || (budget.max_growth && before && one.before.empty()));
    all.push_back(std::move(one));
  }
  return all;
}

/// Adds `figures` to `sum`. If one of the two was not measured, the sum has no value. A peak is missing if another
/// window had the highest.
void add(Together together, const std::vector<Figure>& figures, std::optional<double>& sum) {
  if (together == Together::most) {
    if (!figures.empty()) sum = std::max(sum.value_or(0), figures.front().value);
    return;
  }
  if (!sum) return;
  if (figures.empty()) {
    sum.reset();
  } else {
    *sum += figures.front().value;
  }
}

std::vector<Limited> sums_of(const Budget& budget, const std::vector<BudgetedWindow>& windows) {
  struct Sum {
    std::optional<double> now = 0;
    std::optional<double> before = 0;
    bool has_before = false;
    std::string at_most = {};
  };
  std::map<std::string, Sum> sums;
  Uncounted uncounted(budget);
  for (const BudgetedWindow& window : windows) {
    if (!budget.matches(window.kind, window.name, window.program)) continue;
    const Subject& any = window.now ? *window.now : *window.before;
    // Figures of a call or an iteration cannot be added to those of a test. The times of a parent do not include its
    // children.
    if (any.window->is_per_iteration || window.kind == "scope") continue;
    const Together together = budget.measure->together;
    const Sum none = together == Together::most ? Sum{std::nullopt, std::nullopt} : Sum();
    Sum& sum = sums.try_emplace(budget.per == Per::program ? window.program : "all tests", none).first->second;
    if (window.now) {
      add(together, figures_of(budget, window.now, nullptr), sum.now);
      if (std::string reason = uncounted.reason(*any.window); !reason.empty()) sum.at_most = std::move(reason);
    }
    if (window.before) {
      if (std::string reason = uncounted.reason(*window.before->window); is_of_growth(budget) && !reason.empty()) {
        sum.before.reset();
        sum.at_most = "in the baseline " + reason;
      }
      add(together, figures_of(budget, window.before, nullptr), sum.before);
      sum.has_before = true;
    }
  }
  std::vector<Limited> all;
  for (const auto& [name, sum] : sums) {
    Limited one{name, {}, {}, false, sum.at_most};
    if (sum.now) one.now = {{"", *sum.now}};
    if (sum.before && sum.has_before) one.before = {{"", *sum.before}};
    one.lacks_number =
        budget.measure->together == Together::sum && (!sum.now || (budget.max_growth && sum.has_before && !sum.before));
    all.push_back(std::move(one));
  }
  return all;
}

bool has_grown(const Budget& budget, double before, double now) {
  if (now <= before * (1 + budget.max_growth->share) + budget.max_growth->value) return false;
  if (budget.measure->together != Together::nothing) return true;
  // Percentiles are values of buckets, so two neighbours may have one value.
  return histogram_bucket(static_cast<std::uint64_t>(now)) > histogram_bucket(static_cast<std::uint64_t>(before)) + 1;
}

/// `not measured in 2 of 5 tests: A.One, A.Two; events were lost in 1 of 5 tests: B.One`; "" if all have their numbers.
std::string not_measured(const Budget& budget, const std::vector<Limited>& all) {
  constexpr std::size_t kMostNamed = 5;
  std::map<std::string_view, std::vector<std::string_view>> by_reason;
  for (const Limited& one : all) {
    const std::string_view reason = one.at_most.empty() ? std::string_view("not measured") : one.at_most;
    if (one.lacks_number) by_reason[reason].emplace_back(one.name);
  }
  std::vector<std::string> texts;
  for (auto& [reason, names] : by_reason) {
    const std::size_t count = names.size();
    names.resize(std::min(count, kMostNamed));
    texts.push_back(fmt::format("{} in {} of {} {}{}: {}{}", reason, count, all.size(),
                                budget.per == Per::test ? "test" : "program", all.size() == 1 ? "" : "s",
                                fmt::join(names, ", "), count > kMostNamed ? ", ..." : ""));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Judges one thing by its limits.
class LimitJudge {
 public:
  LimitJudge(std::size_t index, const Budget& budget, Judgement& out) : index_(index), budget_(budget), out_(out) {}

  void judge(Limited& one) {
    has_figures_ = has_figures_ || !one.now.empty();
    // No figure of those that were not counted is no figure that keeps its limit.
    one.lacks_number = one.lacks_number || (!one.at_most.empty() && one.now.empty());
    for (const Figure& figure : one.now) {
      const std::size_t exceeded_before = out_.exceeded.size();
      if (!judge_figure(one, figure)) continue;
      ++judged_;
      if (out_.exceeded.size() != exceeded_before) continue;
      if (one.at_most.empty()) {
        ++out_.kept;
      } else {
        one.lacks_number = true;
      }
    }
  }

  std::size_t judged() const { return judged_; }
  bool has_figures() const { return has_figures_; }

 private:
  /// False if there is nothing to compare it with.
  bool judge_figure(const Limited& one, const Figure& figure) {
    const Unit unit = budget_.measure->unit;
    const auto exceed = [&](std::string limit) {
      out_.exceeded.push_back(
          {index_, one.name, figure.of, value_text(unit, figure.value) + std::string(figure.note), std::move(limit)});
    };
    bool is_judged = false;
    bool is_exceeded = false;
    if (budget_.max) {
      is_judged = true;
      is_exceeded = figure.value > *budget_.max;
      if (is_exceeded) exceed(fmt::format("at most {}", value_text(unit, *budget_.max)));
    }
    const auto before =
        std::find_if(one.before.begin(), one.before.end(), [&](const Figure& other) { return other.of == figure.of; });
    if (budget_.max_growth && before != one.before.end()) {
      is_judged = true;
      if (!is_exceeded && has_grown(budget_, before->value, figure.value)) {
        exceed(fmt::format("at most {} more than {}", budget_.max_growth->text, value_text(unit, before->value)));
      }
    }
    return is_judged;
  }

  const std::size_t index_;
  const Budget& budget_;
  Judgement& out_;
  std::size_t judged_ = 0;
  bool has_figures_ = false;
};

/// Whether a budget is one of calls in set-ups or tear-downs that made none: they have no row, and keep each limit.
enum class Silence { none, kept, unknown };

Silence silence_of(const Budget& budget, const std::vector<BudgetedWindow>& windows) {
  if (budget.measure->calls == Calls::none) return Silence::none;
  Uncounted uncounted(budget);
  std::set<std::string> voids;  // programs with void counts of a set-up
  for (const BudgetedWindow& one : windows) {
    if (one.now && one.now->window->is_set_up() && !one.now->window->is_counted()) voids.insert(one.program);
  }
  Silence silence = Silence::none;
  for (const BudgetedWindow& test : windows) {
    if (test.kind != "test" || !test.now) continue;
    const auto matches = [&](std::string_view kind, const std::string& name) {
      return budget.matches(kind, name + ", set-up", test.program) ||
             budget.matches(kind, name + ", tear-down", test.program);
    };
    const std::string suite = "suite " + test.name.substr(0, test.name.rfind('.'));
    if (!matches("suite", suite) && !matches("environment", "environment")) continue;
    const bool is_counted = !voids.contains(test.program) && uncounted.reason(*test.now->window).empty() &&
                            !test.now->window->is_of_unfinished_program &&
                            !figures_of(budget, test.now, nullptr).empty();
    if (!is_counted) return Silence::unknown;
    silence = Silence::kept;
  }
  return silence;
}

}  // namespace

Judgement judge(const std::vector<Budget>& budgets, const std::vector<BudgetedWindow>& windows) {
  Judgement out;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    const Budget& budget = budgets[i];
    std::vector<Limited> all = budget.per == Per::test ? windows_of(budget, windows) : sums_of(budget, windows);
    if (all.empty()) {
      const Silence silence = silence_of(budget, windows);
      if (silence == Silence::kept) ++out.kept;
      if (silence == Silence::none) out.unmatched.emplace_back(i, "no test matches it");
      if (silence == Silence::unknown)
        out.unjudged.emplace_back(i, "it has no row, and not all its tests were counted");
      continue;
    }
    LimitJudge one_by_one(i, budget, out);
    for (Limited& one : all) one_by_one.judge(one);
    std::string lacking = not_measured(budget, all);
    const bool has_reason =
        std::any_of(all.begin(), all.end(), [](const Limited& one) { return !one.at_most.empty(); });
    if (one_by_one.judged() != 0 || (has_reason && !lacking.empty())) {
      // The other tests' numbers say nothing of these.
      if (!lacking.empty()) out.unjudged.emplace_back(i, std::move(lacking));
      continue;
    }
    const Together together = budget.measure->together;
    out.unjudged.emplace_back(i, one_by_one.has_figures()        ? "the baseline has no number to compare it with"
                                 : together == Together::nothing ? "nothing has enough calls: ten must lie beyond it"
                                 : together == Together::most ? "not measured, or memory was higher before these tests"
                                                              : "it was not measured");
  }
  return out;
}

}  // namespace syscost::bench::budgets
