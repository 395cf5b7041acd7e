// SPDX-License-Identifier: MIT
#include "model/run_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "model/start_time.h"
#include "model/suggestion.h"

namespace syscost::bench::model {
namespace {

/// One context of each run. The newest run comes first, because readers ask about it.
std::vector<const Context*> runs_of(const Dataset& data) {
  std::map<NameId, const Context*> last;
  const auto key = [&](const Context& context) {
    return std::pair(sortable_time(data.text(context.started_at)), std::string_view(data.text(context.run_id)));
  };
  for (const Context& context : data.contexts) {
    const Context*& one = last[context.run_id];
    if (one == nullptr || key(*one) < key(context)) one = &context;
  }
  std::vector<const Context*> runs;
  for (const auto& [id, context] : last) runs.push_back(context);
  std::sort(runs.begin(), runs.end(), [&](const Context* a, const Context* b) { return key(*b) < key(*a); });
  return runs;
}

}  // namespace

NameId newest_run(const Dataset& data, std::uint32_t file) {
  std::pair<std::string_view, std::string_view> best;
  NameId newest = kNoName;
  for (const Context& context : data.contexts) {
    if (context.file != file) continue;
    const std::pair one(sortable_time(data.text(context.started_at)), std::string_view(data.text(context.run_id)));
    if (one < best) continue;
    best = one;
    newest = context.run_id;
  }
  return newest;
}

std::optional<NameId> asked_run(const Dataset& data, const std::string& asked) {
  const std::vector<const Context*> all = runs_of(data);
  const auto first = [&](auto is_meant) {
    const auto found = std::find_if(all.begin(), all.end(), is_meant);
    return found == all.end() ? std::nullopt : std::optional((*found)->run_id);
  };
  if (const auto by_id = first([&](const Context* run) { return data.text(run->run_id) == asked; })) return by_id;
  if (all.empty()) return std::nullopt;
  if (asked.starts_with("label:")) {
    return first([&](const Context* run) { return data.text(run->label) == asked.substr(6); });
  }
  if (asked.starts_with("commit:") && asked.size() > 7) {
    return first([&](const Context* run) { return data.text(run->commit).starts_with(asked.substr(7)); });
  }
  if (asked == "oldest") return all.back()->run_id;
  if (asked == "newest") return all.front()->run_id;
  if (constexpr std::string_view kBefore = "newest~"; asked.starts_with(kBefore)) {
    std::size_t steps = 0;
    const auto [rest, error] = std::from_chars(asked.data() + kBefore.size(), asked.data() + asked.size(), steps);
    if (error == std::errc() && rest == asked.data() + asked.size() && steps < all.size()) return all[steps]->run_id;
  }
  return std::nullopt;
}

void report_unknown_run(const Dataset& data, const std::string& asked, csv::Problems& problems) {
  std::vector<std::string> names;
  for (const Context* run : runs_of(data)) names.push_back(data.text(run->run_id));
  const std::vector<std::string> ids = names;
  for (const Context* run : runs_of(data)) {
    if (run->label != kNoName) names.push_back("label:" + data.text(run->label));
    if (run->commit != kNoName) names.push_back("commit:" + data.text(run->commit));
  }
  constexpr std::size_t kMostNamed = 3;
  std::string named = did_you_mean(asked, names);
  if (named.empty()) {
    named = fmt::format(
        "it holds {}",
        fmt::join(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), kMostNamed)), ", "));
    if (ids.size() > kMostNamed) named += fmt::format(" and {} older runs", ids.size() - kMostNamed);
  }
  problems.add(data.name, 0, fmt::format("no run \"{}\" in it; {} (`bench runs` lists them)", asked, named));
}

std::vector<std::uint32_t> keep_runs(Dataset& data, const std::function<bool(std::uint32_t, NameId)>& is_wanted) {
  std::vector<std::uint32_t> moved(data.samples.size(), 0);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < moved.size(); ++i) {
    const Context& context = data.context(data.samples[i]);
    moved[i] = is_wanted(context.file, context.run_id) ? kept : RowStore::kNoSample;
    if (moved[i] != RowStore::kNoSample) data.samples[kept++] = data.samples[i];
  }
  if (kept == moved.size()) return {};
  data.samples.resize(kept);
  data.rows.keep(moved);
  return moved;
}

}  // namespace syscost::bench::model
