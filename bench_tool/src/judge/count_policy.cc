// SPDX-License-Identifier: MIT
#include "judge/count_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "model/row_parser.h"

namespace syscost::bench::judge {
namespace {

bool is_hit(const model::SyscallChoice& choice, std::string_view name, std::string_view classes) {
  const std::size_t space = name.find(' ');
  const std::string syscall(name.substr(0, space));
  const std::string detail(space == std::string_view::npos ? std::string_view() : name.substr(space + 1));
  return choice.matches(syscall, detail, classes);
}

/// A name that is no syscall's would change nothing, and no one would notice.
std::optional<model::SyscallChoice> choice_of(const std::string& selector, std::string& fault) {
  std::optional<model::SyscallChoice> choice = model::SyscallChoice::parse(selector, fault);
  if (choice) fault = choice->unknown_name();
  return fault.empty() ? choice : std::nullopt;
}

/// All of `text`, 0 or more.
std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_right =
      error == std::errc() && end == text.data() + text.size() && std::isfinite(number) && number >= 0;
  return is_right ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::string> CountPolicy::add_volatile(const std::string& selector, const Tests& tests) {
  std::string fault;
  std::optional<model::SyscallChoice> choice = choice_of(selector, fault);
  if (!choice) return fault;
  volatile_.push_back({*std::move(choice), tests});
  return std::nullopt;
}

std::optional<std::string> CountPolicy::add_tolerance(const std::string& text, const Tests& tests) {
  const std::size_t equals = text.rfind('=');
  const std::string_view amount = equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1);
  const bool is_share = amount.ends_with('%');
  const std::optional<double> number = number_in(is_share ? amount.substr(0, amount.size() - 1) : amount);
  if (!number || equals == 0) {
    return fmt::format("\"{}\" is not SELECTOR=CALLS or SELECTOR=PERCENT%, such as read=3 or %file=5%", text);
  }
  std::string fault;
  std::optional<model::SyscallChoice> choice = choice_of(text.substr(0, equals), fault);
  if (!choice) return fault;
  rules_.push_back({*std::move(choice), is_share ? 0 : *number, is_share ? *number / 100 : 0, tests});
  return std::nullopt;
}

void CountPolicy::put_before(const CountPolicy& other) {
  gates_waits_ = gates_waits_ || other.gates_waits_;
  volatile_.insert(volatile_.begin(), other.volatile_.begin(), other.volatile_.end());
  rules_.insert(rules_.begin(), other.rules_.begin(), other.rules_.end());
}

CountPolicy CountPolicy::of(const std::vector<model::PatternName>& names) const {
  const auto is_other = [&](const auto& rule) {
    return rule.tests && std::none_of(names.begin(), names.end(),
                                      [&](const model::PatternName& name) { return rule.tests->matches(name); });
  };
  CountPolicy own = *this;
  std::erase_if(own.volatile_, is_other);
  std::erase_if(own.rules_, is_other);
  for (Volatile& one : own.volatile_) one.tests.reset();
  for (Rule& one : own.rules_) one.tests.reset();
  return own;
}

bool CountPolicy::is_volatile(std::string_view name, std::string_view classes) const {
  return model::has_class(classes, "volatile") || is_named_volatile(name, classes);
}

bool CountPolicy::is_named_volatile(std::string_view name, std::string_view classes) const {
  return std::any_of(volatile_.begin(), volatile_.end(),
                     [&](const Volatile& one) { return !one.tests && is_hit(one.which, name, classes); });
}

Tolerance CountPolicy::tolerance_of(std::string_view name, std::string_view classes) const {
  Tolerance tolerance = general_;
  for (const Rule& rule : rules_) {
    if (rule.tests || !is_hit(rule.which, name, classes)) continue;
    tolerance.abs = rule.abs;
    tolerance.rel = rule.rel;
  }
  return tolerance;
}

model::PatternName pattern_name(const stats::WindowSummary& window) {
  std::string_view name = window.name;
  // It is a part of the name where several programs have the test.
  const std::string of_program = fmt::format(" ({})", window.program);
  if (name.ends_with(of_program)) name.remove_suffix(of_program.size());
  return {window.kind, name, window.program};
}

CountPolicy rules_of(const CountPolicy& policy, const stats::WindowSummary* old_window,
                     const stats::WindowSummary* new_window) {
  std::vector<model::PatternName> names;
  for (const stats::WindowSummary* window : {old_window, new_window}) {
    if (window != nullptr) names.push_back(pattern_name(*window));
  }
  return policy.of(names);
}

}  // namespace syscost::bench::judge
