// SPDX-License-Identifier: MIT
#include "findings/find.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "findings/thresholds.h"
#include "findings/window_calls.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"
#include "syscost/schema.h"

namespace syscost::bench::findings {
namespace {

/// Why a rule cannot look at a window.
struct Lack {
  std::string_view reason;    ///< Empty: it can.
  bool is_of_window = false;  ///< No rule can.
};
/// Fewer ioctl than that cannot be a finding, whatever they request.
constexpr double kFewRequests = 16;

/// What the rule needs and the window does not have.
std::string_view need_of(const Rule& rule, const TestWindows& test, const TracedWindow* trace) {
  const WindowCalls& calls = *test.own;
  const stats::WindowSummary& window = calls.summary();
  if (trace != nullptr && rule.in_trace != nullptr) return {};
  switch (rule.needs) {
    case Needs::counts:
      return {};
    case Needs::results:
      return calls.has_results() ? "" : "the backend sees no results of calls";
    case Needs::bytes:
      if (!calls.has_results()) return "the backend sees no results of calls";
      return calls.has_bytes() ? "" : "the CSV has no bytes";
    case Needs::times:
      return calls.has_times() ? "" : "the backend has no times";
    case Needs::trace:
      return "needs a trace (--syscost_trace)";
    case Needs::children: {
      static constexpr std::array<std::string_view, 3> kForks = {"fork", "vfork", "clone"};
      const bool has_all = !test.children.empty() || !calls.has(kForks);
      return has_all ? "" : "needs rows of children (--syscost_children)";
    }
    case Needs::requests: {
      double unnamed = 0;
      for (const stats::SyscallSummary& one : window.syscalls) {
        if (one.name == "ioctl" && one.count()) unnamed += one.count()->median;
      }
      return unnamed < kFewRequests ? "" : "needs requests of ioctl (--syscost_detail ioctl)";
    }
    case Needs::gpu:
      return test.gpu_figures.empty() ? "needs times of GPU kernels (--syscost_profile cupti)" : "";
  }
  return {};
}

Lack lack_of(const Rule& rule, const TestWindows& test, const TracedWindow* trace) {
  const stats::WindowSummary& window = test.own->summary();
  if (rule.needs != Needs::gpu) {
    if (!window.calls && !window.entries) return {"the calls were not counted", true};
    // A rule has counts that it wants to be small, too.
    if (!window.counted_everything()) return {"a filter left calls out (--syscost_filter)", true};
    if (stats::has_altered(window)) return {"faults changed its calls", true};
  }
  return {need_of(rule, test, trace)};
}

}  // namespace

Finder::Finder(const model::Dataset& data, const std::vector<model::Group>& groups, FindOptions options)
    : data_(data), groups_(groups), options_(std::move(options)) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const model::Group& group = groups[i];
    if (group.test == model::kNoName) continue;
    const std::string& kind = data.text(group.kind);
    if (kind == "process") children_[{group.program, group.test}].push_back(i);
    if (kind == schema::kKindGpuKernel) gpu_figures_[{group.program, group.test}].push_back(i);
  }
}

bool Finder::looks_at(const stats::WindowSummary& window) const {
  if (window.kind == "scope" && !options_.has_scopes) return false;
  static constexpr std::array<std::string_view, 7> kKinds = {"test",        "benchmark", "loop", "suite",
                                                             "environment", "process",   "scope"};
  return window.is_ours() && std::find(kKinds.begin(), kKinds.end(), window.kind) != kKinds.end();
}

void Finder::add_lack(const Rule& rule, std::string_view reason, bool is_of_window) {
  auto& list = findings_.not_checked;
  const auto known = std::find_if(list.begin(), list.end(),
                                  [&](const NotChecked& one) { return one.rule == rule.name && one.reason == reason; });
  if (known != list.end()) {
    ++known->windows;
  } else {
    list.push_back({rule.name, std::string(reason), 1, is_of_window});
  }
}

void Finder::run(const Rule& rule, const TestWindows& test, const TracedWindow* trace) {
  if (const Lack lack = lack_of(rule, test, trace); !lack.reason.empty()) {
    add_lack(rule, lack.reason, lack.is_of_window);
    return;
  }
  const stats::WindowSummary& window = test.own->summary();
  double passes = window.passes();  // counts are those of one
  std::vector<Hit> hits;
  if (trace != nullptr && rule.in_trace != nullptr) {
    hits = rule.in_trace(*trace);
    if (rule.is_general && hits.empty() && rule.in_counts != nullptr) {
      hits = rule.in_counts(*test.own);
    } else {
      passes = 1;
    }
    if (trace->lost() > 0) add_lack(rule, "the trace had no room for all calls (--syscost_trace=events=N)", true);
  } else if (rule.in_counts != nullptr) {
    hits = rule.in_counts(*test.own);
  } else if (rule.in_test != nullptr) {
    hits = rule.in_test(test);
  }
  if (hits.empty() && window.is_lower_bound()) add_lack(rule, "events or rows are missing", true);
  const double wall_ns = window.wall_ns ? window.wall_ns->median * window.passes() : 0;
  // The first one about a syscall silences the others: it must not be a note.
  if (rule.is_general) std::stable_partition(hits.begin(), hits.end(), [](const Hit& hit) { return !hit.is_note; });
  for (Hit& hit : hits) {
    if (rule.is_general && is_named(hit)) continue;
    Finding finding{rule.name,
                    window.name,
                    std::move(hit.syscall),
                    std::move(hit.site),
                    std::move(hit.evidence),
                    std::string(rule.remedy),
                    hit.cost_ns,
                    hit.is_note};
    if (!hit.is_note) {
      findings_.found.push_back(std::move(finding));
      const bool is_of_loop = window.kind == "loop" || window.kind == "benchmark";
      costs_.push_back({hit.cost_ns * passes, wall_ns, findings_.windows, hit.counts_at_any_cost, is_of_loop});
    } else {
      findings_.notes.push_back(std::move(finding));
    }
  }
}

bool Finder::is_named(const Hit& hit) const {
  bool is_found = false;
  double noted_ns = -1;
  const auto look_at = [&](const std::vector<Finding>& list, std::size_t first, const auto& see) {
    for (auto one = list.begin() + static_cast<std::ptrdiff_t>(first); one != list.end(); ++one) {
      if (one->syscall == hit.syscall) see(*one);
    }
  };
  look_at(findings_.found, first_of_window_, [&](const Finding&) { is_found = true; });
  if (is_found || !hit.is_note) return is_found;
  look_at(findings_.notes, first_note_of_window_,
          [&](const Finding& one) { noted_ns = std::max(noted_ns, one.cost_ns); });
  // A cheap note about some of the calls does not say what all of them cost.
  return noted_ns >= 0 && noted_ns >= kShareOfNamed * hit.cost_ns;
}

void Finder::demote() {
  struct Place {
    double ns = 0;
    double wall_ns = 0;
    std::optional<std::size_t> last;  ///< The window that was added last.
    bool has_loop = false;

    bool is_cheap() const { return (!has_loop && ns < kLeastCostNs) || ns < kLeastShare * wall_ns; }
  };
  std::map<std::pair<std::string_view, std::string>, Place> places;  // by rule and site
  for (std::size_t i = 0; i < findings_.found.size(); ++i) {
    const Cost& cost = costs_[i];
    Place& place = places[{findings_.found[i].rule, findings_.found[i].site}];
    place.ns += cost.ns;
    if (place.last != cost.window) place.wall_ns += cost.wall_ns;
    place.last = cost.window;
    place.has_loop = place.has_loop || cost.is_of_loop;
  }
  std::vector<Finding> found;
  for (std::size_t i = 0; i < findings_.found.size(); ++i) {
    Finding& one = findings_.found[i];
    const bool is_cheap_here = costs_[i].ns < kLeastShare * costs_[i].wall_ns;
    one.is_note = !costs_[i].is_any && (is_cheap_here || places[{one.rule, one.site}].is_cheap());
    (one.is_note ? findings_.notes : found).push_back(std::move(one));
  }
  findings_.found = std::move(found);
  costs_.clear();
}

void Finder::add(std::size_t index, const stats::WindowSummary& summary, const trace::TraceFile* trace) {
  if (!looks_at(summary)) return;
  ++findings_.windows;
  const model::Group& group = groups_[index];
  const WindowCalls own(data_, group, summary);
  std::optional<TracedWindow> traced;
  if (trace != nullptr) {
    traced.emplace(*trace);
    ++findings_.traced;
  }
  TestWindows test{&own};
  std::deque<stats::WindowSummary> summaries;  // deques: what points into them stays right
  std::deque<WindowCalls> others;
  const auto add_others = [&](const std::map<Key, std::vector<std::size_t>>& from,
                              std::vector<const WindowCalls*>& to) {
    const auto found = from.find({group.program, group.test});
    if (found == from.end()) return;
    for (const std::size_t other : found->second) {
      summaries.push_back(stats::summarize(data_, groups_[other], false));
      to.push_back(&others.emplace_back(data_, groups_[other], summaries.back()));
    }
  };
  if (summary.kind == "test" || summary.kind == "benchmark") {
    add_others(children_, test.children);
    add_others(gpu_figures_, test.gpu_figures);
  }
  first_of_window_ = findings_.found.size();
  first_note_of_window_ = findings_.notes.size();
  for (const Rule& rule : rules()) {
    if (!options_.ignored.contains(rule.name)) run(rule, test, traced ? &*traced : nullptr);
  }
}

Findings Finder::take() {
  const auto place = [](std::string_view name) { return rule_of(name) - rules().data(); };
  demote();
  for (std::vector<Finding>* list : {&findings_.found, &findings_.notes}) {
    std::stable_sort(list->begin(), list->end(),
                     [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
  }
  std::stable_sort(findings_.not_checked.begin(), findings_.not_checked.end(),
                   [&](const NotChecked& a, const NotChecked& b) { return place(a.rule) < place(b.rule); });
  return std::exchange(findings_, {});
}

Findings find(const model::Dataset& data, const std::vector<model::Group>& groups, FindOptions options) {
  Finder finder(data, groups, std::move(options));
  stats::for_each_summary(data, groups, false,
                          [&](std::size_t i, stats::WindowSummary&& window) { finder.add(i, window); });
  return finder.take();
}

std::vector<RuleFindings> by_rule(const std::vector<Finding>& found) {
  std::vector<RuleFindings> rules;
  std::map<std::string_view, std::size_t> places;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> sites;
  for (const Finding& one : found) {
    const auto [place, is_new] = places.try_emplace(one.rule, rules.size());
    if (is_new) rules.push_back({rule_of(one.rule)});
    RuleFindings& all = rules[place->second];
    all.cost_ns += one.cost_ns;
    // Findings are sorted, so the first one of a site is its worst.
    if (!one.site.empty()) {
      const auto [known, is_first] = sites.try_emplace({place->second, one.site}, all.parts.size());
      if (!is_first) {
        all.parts[known->second].windows.insert(one.window);
        all.parts[known->second].cost_ns += one.cost_ns;
        continue;
      }
    }
    all.parts.push_back({&one, {one.window}, one.cost_ns});
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const RuleFindings& a, const RuleFindings& b) { return a.cost_ns > b.cost_ns; });
  return rules;
}

std::size_t keep_dearest(std::vector<RuleFindings>& rules, std::size_t most) {
  struct Place {
    double cost_ns = 0;
    std::size_t rule = 0;
    std::size_t part = 0;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (std::size_t k = 0; k < rules[i].parts.size(); ++k) places.push_back({rules[i].parts[k].cost_ns, i, k});
  }
  if (most == 0 || places.size() <= most) return 0;
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.cost_ns > b.cost_ns; });
  std::vector<std::vector<bool>> is_kept;
  for (const RuleFindings& rule : rules) is_kept.emplace_back(rule.parts.size());
  for (std::size_t i = 0; i < most; ++i) is_kept[places[i].rule][places[i].part] = true;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::vector<AlikeFindings> kept;
    for (std::size_t k = 0; k < rules[i].parts.size(); ++k) {
      if (is_kept[i][k]) kept.push_back(std::move(rules[i].parts[k]));
    }
    rules[i].parts = std::move(kept);
  }
  std::erase_if(rules, [](const RuleFindings& rule) { return rule.parts.empty(); });
  return places.size() - most;
}

}  // namespace syscost::bench::findings
