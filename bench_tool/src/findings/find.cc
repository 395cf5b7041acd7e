// SPDX-License-Identifier: MIT
#include "findings/find.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "findings/rule.h"
#include "findings/window_calls.h"
#include "stats/window_stream.h"

namespace syscost::bench::findings {
namespace {

/// Why the rule cannot look at the window; "" if it can.
std::string_view lack_of(const Rule& rule, const WindowCalls& calls) {
  const stats::WindowSummary& window = calls.summary();
  if (!window.calls && !window.entries) return "the calls were not counted";
  if (rule.needs != Needs::counts && !calls.has_results()) return "the backend sees no results of calls";
  if (rule.needs == Needs::bytes && !calls.has_bytes()) return "the CSV has no bytes";
  return {};
}

}  // namespace

bool Finder::looks_at(const stats::WindowSummary& window) {
  static constexpr std::array<std::string_view, 6> kKinds = {"test",  "benchmark",   "loop",
                                                             "suite", "environment", "process"};
  return window.is_ours() && std::find(kKinds.begin(), kKinds.end(), window.kind) != kKinds.end();
}

void Finder::add(const model::Dataset& data, const model::Group& group, const stats::WindowSummary& summary) {
  if (!looks_at(summary)) return;
  ++findings_.windows;
  const WindowCalls calls(data, group, summary);
  for (const Rule& rule : rules()) {
    if (options_.ignored.contains(rule.name)) continue;
    if (const std::string_view lack = lack_of(rule, calls); !lack.empty()) {
      auto& list = findings_.not_checked;
      const auto known = std::find_if(
          list.begin(), list.end(), [&](const NotChecked& one) { return one.rule == rule.name && one.reason == lack; });
      if (known != list.end()) {
        ++known->windows;
      } else {
        list.push_back({rule.name, std::string(lack), 1});
      }
      continue;
    }
    for (Hit& hit : rule.in_counts(calls)) {
      findings_.found.push_back({rule.name, summary.name, std::move(hit.syscall), std::move(hit.site),
                                 std::move(hit.evidence), std::string(rule.remedy), hit.cost_ns});
    }
  }
}

Findings Finder::take() {
  const auto place = [](std::string_view name) {
    const Rule* rule = rule_of(name);
    return rule == nullptr ? 0 : rule - rules().data();
  };
  std::stable_sort(findings_.found.begin(), findings_.found.end(),
                   [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
  std::stable_sort(findings_.not_checked.begin(), findings_.not_checked.end(),
                   [&](const NotChecked& a, const NotChecked& b) { return place(a.rule) < place(b.rule); });
  return std::exchange(findings_, {});
}

Findings find(const model::Dataset& data, const std::vector<model::Group>& groups, FindOptions options) {
  Finder finder(std::move(options));
  stats::for_each_summary(data, groups, false,
                          [&](std::size_t i, stats::WindowSummary&& window) { finder.add(data, groups[i], window); });
  return finder.take();
}

}  // namespace syscost::bench::findings
