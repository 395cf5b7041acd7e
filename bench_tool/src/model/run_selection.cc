// SPDX-License-Identifier: MIT
#include "model/run_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/choice.h"

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

namespace {

constexpr std::string_view kPattern = "0000-00-00T00:00:00";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The number of `length` digits at `at`.
int number_at(std::string_view text, std::size_t at, std::size_t length) {
  int number = 0;
  std::from_chars(text.data() + at, text.data() + at + length, number);
  return number;
}

/// `+02:00` at the end of a time, in minutes; nullopt for `Z` and anything else.
std::optional<int> offset_minutes(std::string_view zone) {
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  for (const std::size_t at : {1, 2, 4, 5}) {
    if (!is_digit(zone[at])) return std::nullopt;
  }
  const int minutes = number_at(zone, 1, 2) * 60 + number_at(zone, 4, 2);
  return zone[0] == '-' ? -minutes : minutes;
}

int days_of(int year, int month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

}  // namespace

bool is_time(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() <= kPattern.size() || text.back() != 'Z') return false;
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] == '0' ? !is_digit(text[i]) : text[i] != kPattern[i]) return false;
  }
  const std::string_view decimals = text.substr(kPattern.size(), text.size() - kPattern.size() - 1);
  if (!decimals.empty() && (decimals.front() != '.' || decimals.size() == 1)) return false;
  if (!decimals.empty() && !std::all_of(decimals.begin() + 1, decimals.end(), is_digit)) return false;
  const int month = number_at(text, 5, 2);
  const int day = number_at(text, 8, 2);
  return month >= 1 && month <= 12 && day >= 1 && day <= days_of(number_at(text, 0, 4), month) &&
         number_at(text, 11, 2) <= 23 && number_at(text, 14, 2) <= 59 &&
         number_at(text, 17, 2) <= 60;  // 60: a leap second
}

std::string_view sortable_time(std::string_view time) {
  if (time.ends_with('Z')) time.remove_suffix(1);
  return time;
}

std::optional<std::uint64_t> unix_ns(std::string_view time) {
  std::string utc(time);
  int offset = 0;
  if (const std::size_t zone = time.size() - std::min<std::size_t>(time.size(), 6); zone > 0) {
    if (const auto minutes = offset_minutes(time.substr(zone))) {
      offset = *minutes;
      utc = std::string(time.substr(0, zone)) + 'Z';
    }
  }
  if (utc.empty() || !is_time(utc)) return std::nullopt;
  const int year = number_at(utc, 0, 4);
  if (year < 1970 || year > 2261) return std::nullopt;  // 63 bits of ns end in 2262
  const std::chrono::sys_days day = std::chrono::year(year) / number_at(utc, 5, 2) / number_at(utc, 8, 2);
  std::chrono::nanoseconds since = day.time_since_epoch();
  since += std::chrono::hours(number_at(utc, 11, 2)) + std::chrono::minutes(number_at(utc, 14, 2) - offset) +
           std::chrono::seconds(number_at(utc, 17, 2));
  if (since.count() < 0) return std::nullopt;
  std::uint64_t unit_ns = 100'000'000;
  auto ns = static_cast<std::uint64_t>(since.count());
  for (std::size_t at = kPattern.size() + 1; at < utc.size() - 1 && unit_ns > 0; ++at, unit_ns /= 10) {
    ns += unit_ns * static_cast<std::uint64_t>(utc[at] - '0');
  }
  return ns;
}

}  // namespace syscost::bench::model
