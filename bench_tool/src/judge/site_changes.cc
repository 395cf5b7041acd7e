// SPDX-License-Identifier: MIT
#include "judge/site_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/site.h"

namespace syscost::bench::judge {
namespace {

using model::SyscallRow;

/// The sites of all syscalls of a window.
class WindowSites {
 public:
  /// The group of `side` must not be null.
  explicit WindowSites(const SitedWindow& side)
      : data_(*side.data),
        rows_(side.data->rows_by_site(), *side.group),
        fold_(*side.data, *side.group, rows_, true),
        all_(rows_) {
    for (const stats::Series& series : all_) {
      const std::string& detail = data_.text(series.first->detail);
      std::string name = data_.text(series.first->syscall);
      const bool is_sited = model::is_site(detail);
      if (!detail.empty() && !is_sited) name += " " + detail;
      for (const std::string& counted : {name, std::string(model::kSyncOpens)}) {
        if (counted != name && !series.first->sync_opens.has_value()) continue;
        BySyscall& one = syscalls_[counted];
        one.series.push_back(&series);
        one.is_known = one.is_known || is_sited;
      }
    }
  }

  /// How often each site makes what `delta` counts; nullopt if the sites are not known. Empty: no call was made.
  std::optional<std::vector<stats::SiteCount>> of(const Delta& delta, bool counts_entries, bool tells_per_run) const {
    const auto found = syscalls_.find(delta.syscall);
    if (found == syscalls_.end()) return std::vector<stats::SiteCount>();
    if (!found->second.is_known) return std::nullopt;
    std::vector<stats::SiteCount> sites;
    for (const stats::Series* series : found->second.series) {
      const stats::Numbers count = count_of(*series, delta, counts_entries, tells_per_run);
      if (!count) return std::nullopt;
      if (count->max > 0) sites.push_back({model::parse_site(data_.text(series->first->detail)), *count});
    }
    return sites;
  }

 private:
  struct BySyscall {
    std::vector<const stats::Series*> series;
    bool is_known = false;
  };

  stats::Numbers count_of(const stats::Series& series, const Delta& delta, bool counts_entries,
                          bool tells_per_run) const {
    const stats::PerRunCalls mode = tells_per_run ? stats::PerRunCalls::left_out : stats::PerRunCalls::spread;
    if (delta.errno_name.empty()) {
      if (delta.is_per_run) {
        return series.knows_per_run_calls ? fold_.per_run(series, &SyscallRow::per_run_calls) : stats::Numbers();
      }
      if (delta.syscall == model::kSyncOpens) return fold_.column(series, &SyscallRow::sync_opens, mode);
      return fold_.column(series, counts_entries ? &SyscallRow::entries : &SyscallRow::calls, mode);
    }
    const std::optional<stats::ErrnoNumbers> errnos =
        delta.is_per_run ? fold_.per_run_errnos(series) : fold_.errnos(series, mode);
    if (!errnos) return std::nullopt;
    const auto found = errnos->find(delta.errno_name);
    return found == errnos->end() ? stats::Spread{1, 0, 0, 0} : found->second;
  }

  const model::Dataset& data_;
  stats::GroupRows rows_;
  stats::RepetitionAggregator fold_;
  stats::SeriesList all_;
  std::map<std::string, BySyscall, std::less<>> syscalls_;
};

/// As the judge compared the two: with the per-run calls apart, if both sides know them.
bool tells_per_run(const Comparison& row, const Delta& delta) {
  const auto tells = [&](const stats::WindowSummary& window) {
    const stats::SyscallSummary* one = window.find(delta.syscall);
    if (one == nullptr) return true;
    return (delta.errno_name.empty() ? one->per_run_calls : one->per_run_errors).has_value();
  };
  return tells(*row.old_window) && tells(*row.new_window);
}

/// Figures of an iteration from passes of different lengths agree up to one call of the shorter pass.
double rounding_of(const Comparison& row) {
  if (!row.old_window->counted_passes || !row.new_window->counted_passes) return 0;
  const stats::Spread& before = *row.old_window->counted_passes;
  const stats::Spread& now = *row.new_window->counted_passes;
  const double shortest = std::min(before.min, now.min);
  return shortest == std::max(before.max, now.max) ? 0 : 1 / shortest;
}

bool has_sites(const SitedWindow& side) {
  return side.data != nullptr && side.data->has_sites;
}

}  // namespace

void explain_by_sites(const SitedWindow& old_side, const SitedWindow& new_side, Comparison& row) {
  if (row.deltas.empty() || !row.is_paired() || (!has_sites(old_side) && !has_sites(new_side))) return;
  const auto sites_of = [](const SitedWindow& side) {
    return side.group == nullptr ? nullptr : std::make_unique<WindowSites>(side);
  };
  const std::unique_ptr<WindowSites> of_old = sites_of(old_side);
  const std::unique_ptr<WindowSites> of_new = sites_of(new_side);
  const double rounding = rounding_of(row);
  for (Delta& delta : row.deltas) {
    const bool tells = tells_per_run(row, delta);
    const auto counts = [&](const std::unique_ptr<WindowSites>& sites, const stats::Spread& all) {
      // A call that is not made has no sites.
      if (all.max == 0) return std::optional(std::vector<stats::SiteCount>());
      return sites != nullptr ? sites->of(delta, row.counts_entries, tells) : std::nullopt;
    };
    const auto before = counts(of_old, delta.old_count);
    const auto now = counts(of_new, delta.new_count);
    if (!now) continue;
    const std::string unexplained_wait = delta.is_new_wait ? delta.wait_text() : "";
    delta.sites =
        before ? stats::align_sites(*before, *now, delta.is_per_run ? 0 : rounding) : stats::sites_in_new(*now);
    if (const std::size_t at = row.reason.find(unexplained_wait); delta.is_new_wait && at != std::string::npos) {
      row.reason.replace(at, unexplained_wait.size(), delta.wait_text());
    }
  }
}

double unexplained(const Delta& delta) {
  const bool has_both = !delta.sites.empty() && delta.sites.front().kind != stats::SiteChange::Kind::in_new;
  if (!has_both || !delta.is_exact()) return 0;
  double left = delta.new_count.median - delta.old_count.median;
  for (const stats::SiteChange& one : delta.sites) left -= one.more();
  return std::abs(left) > 1e-6 * std::max(delta.new_count.median, delta.old_count.median) ? left : 0;
}

}  // namespace syscost::bench::judge
