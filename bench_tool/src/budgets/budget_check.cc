// SPDX-License-Identifier: MIT
#include "budgets/budget_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "syscost/histogram.h"

namespace syscost::bench::budgets {
namespace {

/// One thing that a budget limits.
struct Limited {
  std::string name;
  std::vector<Figure> now;
  std::vector<Figure> before;
  bool lacks_number = false;  ///< Of what must have one: it was not measured, now or for the baseline.
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
  for (const BudgetedWindow& window : windows) {
    if (!window.now || !budget.matches(window.kind, window.name, window.program)) continue;
    const Subject* before = window.before ? &*window.before : nullptr;
    Limited one{window.display, figures_of(budget, window.now, before), figures_of(budget, window.before, before)};
    const bool is_comparable = before != nullptr || !budget.measure->needs_baseline;
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
  };
  std::map<std::string, Sum> sums;
  for (const BudgetedWindow& window : windows) {
    if (!budget.matches(window.kind, window.name, window.program)) continue;
    const Subject& any = window.now ? *window.now : *window.before;
    // Figures of a call or an iteration cannot be added to those of a test. The times of a parent do not include its
    // children.
    if (any.window->is_per_iteration || window.kind == "scope") continue;
    const Together together = budget.measure->together;
    const Sum none = together == Together::most ? Sum{std::nullopt, std::nullopt} : Sum();
    Sum& sum = sums.try_emplace(budget.per == Per::program ? window.program : "all tests", none).first->second;
    if (window.now) add(together, figures_of(budget, window.now, nullptr), sum.now);
    if (window.before) {
      add(together, figures_of(budget, window.before, nullptr), sum.before);
      sum.has_before = true;
    }
  }
  std::vector<Limited> all;
  for (const auto& [name, sum] : sums) {
    Limited one{name, {}, {}, false};
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

/// `not measured in 2 of 5 tests: A.One, A.Two`; "" if all have their numbers.
std::string not_measured(const Budget& budget, const std::vector<Limited>& all) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string_view> names;
  for (const Limited& one : all) {
    if (one.lacks_number) names.emplace_back(one.name);
  }
  if (names.empty()) return {};
  const std::size_t count = names.size();
  names.resize(std::min(count, kMostNamed));
  return fmt::format("not measured in {} of {} {}{}: {}{}", count, all.size(),
                     budget.per == Per::test ? "test" : "program", all.size() == 1 ? "" : "s", fmt::join(names, ", "),
                     count > kMostNamed ? ", ..." : "");
}

}  // namespace

Judgement judge(const std::vector<Budget>& budgets, const std::vector<BudgetedWindow>& windows) {
  Judgement out;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    const Budget& budget = budgets[i];
    const Unit unit = budget.measure->unit;
    const std::vector<Limited> all = budget.per == Per::test ? windows_of(budget, windows) : sums_of(budget, windows);
    if (all.empty()) {
      out.unmatched.emplace_back(i, "no test matches it");
      continue;
    }
    std::size_t judged = 0;
    bool has_figures = false;
    for (const Limited& one : all) {
      for (const Figure& figure : one.now) {
        has_figures = true;
        const std::size_t exceeded_before = out.exceeded.size();
        bool is_judged = false;
        const auto exceed = [&](std::string limit) {
          out.exceeded.push_back(
              {i, one.name, figure.of, value_text(unit, figure.value) + std::string(figure.note), std::move(limit)});
        };
        if (budget.max) {
          is_judged = true;
          if (figure.value > *budget.max) exceed(fmt::format("at most {}", value_text(unit, *budget.max)));
        }
        const auto before = std::find_if(one.before.begin(), one.before.end(),
                                         [&](const Figure& other) { return other.of == figure.of; });
        if (budget.max_growth && before != one.before.end()) {
          is_judged = true;
          if (has_grown(budget, before->value, figure.value) && out.exceeded.size() == exceeded_before) {
            exceed(fmt::format("at most {} more than {}", budget.max_growth->text, value_text(unit, before->value)));
          }
        }
        if (is_judged) ++judged;
        if (is_judged && out.exceeded.size() == exceeded_before) ++out.kept;
      }
    }
    if (judged == 0) {
      const Together together = budget.measure->together;
      out.unjudged.emplace_back(i, has_figures                     ? "the baseline has no number to compare it with"
                                   : together == Together::nothing ? "nothing has enough calls: ten must lie beyond it"
                                   : together == Together::most
                                       ? "not measured, or memory was higher before these tests"
                                       : "it was not measured");
    } else if (std::string lacking = not_measured(budget, all); !lacking.empty()) {
      // The other tests' numbers say nothing of these.
      out.unjudged.emplace_back(i, std::move(lacking));
    }
  }
  return out;
}

}  // namespace syscost::bench::budgets
