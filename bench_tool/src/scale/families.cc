// SPDX-License-Identifier: MIT
#include "scale/families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "model/run_selection.h"
#include "scale/family_laws.h"
#include "stats/window_summary.h"
#include "syscost/schema.h"

namespace syscost::bench::scale {
namespace {

/// The tests that may be of one family: their names are equal but for the numbers in them.
struct Candidates {
  const model::Group* first = nullptr;
  SizedName name;
  bool is_benchmark = false;
  struct Member {
    std::vector<std::int64_t> values;
    model::Group group;
  };
  std::vector<Member> members;
};

constexpr std::size_t kMostVarying = 2;

bool is_counted_kind(std::string_view kind) {
  return kind == "test" || kind == "benchmark" || kind == "loop" || kind == "scope" || kind == "process";
}

std::string key_of(const model::Dataset& data, const model::Group& group, const SizedName& name) {
  std::string key = fmt::format("{}\t{}\t{}\t{}", data.text(group.kind), data.text(group.program),
                                data.text(group.window), data.text(group.parent));
  for (std::size_t i = 0; i < name.parts.size(); ++i) {
    key += '\t' + name.parts[i];
    if (i < name.arguments.size()) key += '\t' + name.arguments[i].name;
  }
  return key;
}

/// If several runs have one label, the newest counts.
void keep_newest_run(const model::Dataset& data, model::Group& group) {
  const auto start = [&](std::uint32_t sample) {
    return model::sortable_time(data.text(data.context(data.samples[sample]).started_at));
  };
  const auto newest = std::max_element(group.samples.begin(), group.samples.end(),
                                       [&](std::uint32_t a, std::uint32_t b) { return start(a) < start(b); });
  if (newest == group.samples.end()) return;
  const model::NameId run = data.context(data.samples[*newest]).run_id;
  std::erase_if(group.samples, [&](std::uint32_t sample) { return data.context(data.samples[sample]).run_id != run; });
}

/// Adds one member for each size that the labels of the group's runs name.
void add_by_label(const model::Dataset& data, const model::Group& group, std::map<std::string, std::size_t>& index,
                  std::vector<Candidates>& all) {
  std::map<std::vector<std::int64_t>, model::Group> by_size;
  SizedName name;
  for (const std::uint32_t sample : group.samples) {
    const std::vector<Argument> sizes = sizes_of_label(data.text(data.context(data.samples[sample]).label));
    const auto same_names = [](const Argument& a, const Argument& b) { return a.name == b.name; };
    if (sizes.empty()) continue;
    if (name.arguments.empty()) name.arguments = sizes;
    // A run with other names in its label is of another series.
    if (!std::equal(sizes.begin(), sizes.end(), name.arguments.begin(), name.arguments.end(), same_names)) continue;
    std::vector<std::int64_t> values;
    for (const Argument& one : sizes) values.push_back(one.value);
    const auto [found, is_new] = by_size.try_emplace(values, group);
    if (is_new) found->second.samples.clear();
    found->second.samples.push_back(sample);
  }
  if (by_size.empty()) return;
  name.parts = {data.text(group.test)};
  const auto [at, is_new] = index.try_emplace(key_of(data, group, name), all.size());
  if (is_new) all.push_back({&group, name, false, {}});
  for (auto& [values, members] : by_size) {
    keep_newest_run(data, members);
    all[at->second].members.push_back({values, std::move(members)});
  }
}

std::vector<Candidates> candidates_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                                      bool by_label) {
  std::vector<Candidates> all;
  std::map<std::string, std::size_t> index;
  for (const model::Group& group : groups) {
    const std::string& kind = data.text(group.kind);
    if (!is_counted_kind(kind) || data.text(group.origin) != schema::kOriginSyscost) continue;
    if (by_label) {
      add_by_label(data, group, index, all);
      continue;
    }
    const std::string& test = data.text(group.test);
    const bool is_benchmark = kind == "benchmark" || (kind == "process" && test.find('.') == std::string::npos);
    SizedName name = is_benchmark ? sized_benchmark(test) : sized_test(test);
    if (name.arguments.empty()) continue;
    std::vector<std::int64_t> values;
    for (const Argument& one : name.arguments) values.push_back(one.value);
    const auto [at, is_new] = index.try_emplace(key_of(data, group, name), all.size());
    if (is_new) all.push_back({&group, std::move(name), is_benchmark, {}});
    all[at->second].members.push_back({std::move(values), group});
  }
  return all;
}

/// The places of arguments that differ among the members.
std::vector<std::size_t> varying(const Candidates& candidates) {
  std::vector<std::size_t> places;
  const std::vector<std::int64_t>& first = candidates.members.front().values;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto differs = [&](const auto& member) { return member.values[i] != first[i]; };
    if (std::any_of(candidates.members.begin(), candidates.members.end(), differs)) places.push_back(i);
  }
  return places;
}

SizeNames names_of(const Candidates& candidates, const std::vector<std::size_t>& places) {
  SizeNames names;
  for (std::size_t i = 0; i < std::min(places.size(), kMostVarying); ++i) {
    names[i] = candidates.name.arguments[places[i]].name;
    if (names[i].empty()) names[i] = i == 0 ? "n" : "m";
  }
  if (places.size() > 1 && names[0] == names[1]) names = {"n", "m"};
  return names;
}

/// `BM_Copy/{n}/8`: the name of the test, with the names of the sizes in their places.
std::string pattern_of(const Candidates& candidates, const std::vector<std::size_t>& places, const SizeNames& names) {
  std::string text;
  for (std::size_t i = 0; i < candidates.name.parts.size(); ++i) {
    text += candidates.name.parts[i];
    if (i >= candidates.name.arguments.size() || candidates.name.parts.size() == 1) continue;
    const auto place = std::find(places.begin(), places.end(), i);
    const auto at = static_cast<std::size_t>(place - places.begin());
    text += place == places.end() ? std::to_string(candidates.members.front().values[i])
            : at < kMostVarying   ? "{" + names[at] + "}"
                                  : "{...}";
  }
  return text;
}

std::string shown_name(const model::Dataset& data, const Candidates& candidates, const std::string& pattern) {
  std::string name = model::display_name(data, *candidates.first);
  const std::string& test = data.text(candidates.first->test);
  const std::size_t at = test.empty() ? std::string::npos : name.find(test);
  return at == std::string::npos ? name : name.replace(at, test.size(), pattern);
}

/// GoogleTest numbers the instances of a parameterised test if they get no names. Such numbers are no sizes.
bool looks_numbered(const Candidates& candidates, const std::vector<Size>& sizes) {
  if (candidates.is_benchmark || candidates.name.arguments.size() != 1 || !candidates.name.arguments[0].name.empty()) {
    return false;
  }
  return sizes.front()[0] == 0 && sizes.back()[0] < 2 * static_cast<std::int64_t>(sizes.size());
}

/// Why the samples of one size cannot be used; "" if they can.
std::string fault_of(const stats::WindowSummary& window) {
  if (std::string outcome = stats::outcome_text(window); !outcome.empty()) return outcome;
  if (window.uncounted != 0 && !window.is_plain) return "not counted";
  return std::string(stats::why_lower_bound(window));
}

/// Notes in `family` the sizes that cannot be fitted, if others can.
TimeRow time_row(Family& family, std::string_view title, const std::vector<stats::WindowSummary>& windows,
                 stats::Numbers stats::WindowSummary::*numbers) {
  TimeRow row;
  std::map<std::string_view, std::vector<std::int64_t>> left_out;  // by reason
  row.title = title;
  if (family.has_two) {
    row.reason = "two sizes vary";
    return row;
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const stats::Numbers& time = windows[i].*numbers;
    if (!time || time->median <= 0 || family.sizes[i][0] < 1) {
      left_out[family.sizes[i][0] < 1 ? "below 1" : time ? "0 ns" : "not measured"].push_back(family.sizes[i][0]);
      continue;
    }
    row.points.push_back({static_cast<double>(family.sizes[i][0]), time->median});
  }
  row.fit = best_complexity(row.points);
  for (const auto& [reason, sizes] : left_out) {
    if (!row.fit) break;
    family.left_out.push_back(fmt::format("{} at {} = {}: {}", title, family.names[0], fmt::join(sizes, ", "), reason));
  }
  row.fixed = fixed_cost(row.points);
  if (!row.fit) {
    row.reason = row.points.empty()
                     ? "not measured"
                     : fmt::format("{} size{} too few", row.points.size(), row.points.size() == 1 ? " is" : "s are");
  }
  return row;
}

void add_laws_and_times(const model::Dataset& data, const std::vector<SizedGroup>& groups, bool has_times,
                        Family& family) {
  std::vector<SizedGroup> usable;
  std::vector<stats::WindowSummary> windows;
  for (const SizedGroup& one : groups) {
    stats::WindowSummary window = stats::summarize(data, one.group, true);
    if (const std::string fault = fault_of(window); !fault.empty()) {
      family.left_out.push_back(size_text(family, one.size) + ": " + fault);
      continue;
    }
    family.is_per_iteration = family.is_per_iteration || window.is_per_iteration;
    family.sizes.push_back(one.size);
    usable.push_back(one);
    windows.push_back(std::move(window));
  }
  if (family.sizes.size() < 2) {
    family.refusal = "fewer than two sizes have counts";
    return;
  }
  stats::SeenFilters filters;
  for (const stats::WindowSummary& window : windows) filters.add(window);
  if (filters.are_several()) {
    family.refusal = "its sizes were counted under several filters";
    return;
  }
  const auto is_power = [](const Size& size) {
    return std::has_single_bit(static_cast<std::uint64_t>(size[0])) &&
           std::has_single_bit(static_cast<std::uint64_t>(size[1]));
  };
  family.are_powers = std::all_of(family.sizes.begin(), family.sizes.end(), is_power);
  family.rows = law_rows_of(data, usable, family);
  if (!has_times) return;
  family.times.push_back(time_row(family, "wall", windows, &stats::WindowSummary::wall_ns));
  family.times.push_back(time_row(family, "cpu", windows, &stats::WindowSummary::cpu_ns));
}

}  // namespace

std::string size_text(const Family& family, const Size& size) {
  std::string text = fmt::format("{} = {}", family.names[0], size[0]);
  if (family.has_two) text += fmt::format(", {} = {}", family.names[1], size[1]);
  return text;
}

std::vector<Family> families_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                                const FamilyOptions& options) {
  std::vector<Family> families;
  for (const Candidates& candidates : candidates_of(data, groups, options.by_label)) {
    const std::vector<std::size_t> places = varying(candidates);
    if (places.empty()) continue;
    Family family;
    family.names = names_of(candidates, places);
    family.has_two = places.size() > 1;
    const std::string pattern = pattern_of(candidates, places, family.names);
    family.name = shown_name(data, candidates, pattern);
    family.key = fmt::format("{}\t{}\t{}\t{}", data.text(candidates.first->kind), pattern,
                             data.text(candidates.first->window), data.text(candidates.first->parent));
    family.program = data.text(candidates.first->program);
    std::map<Size, model::Group> by_size;
    for (const Candidates::Member& member : candidates.members) {
      const Size size = {member.values[places[0]], places.size() > 1 ? member.values[places[1]] : 1};
      const auto [found, is_new] = by_size.try_emplace(size, member.group);
      if (is_new) continue;
      found->second.samples.insert(found->second.samples.end(), member.group.samples.begin(),
                                   member.group.samples.end());
    }
    std::vector<SizedGroup> groups_by_size;
    std::vector<Size> sizes;
    for (auto& [size, group] : by_size) {
      sizes.push_back(size);
      groups_by_size.push_back({size, std::move(group)});
    }
    if (places.size() > kMostVarying) {
      family.sizes = sizes;
      family.refusal = fmt::format("{} sizes vary; laws of one or two are searched", places.size());
    } else if (!options.by_label && looks_numbered(candidates, sizes)) {
      family.sizes = sizes;
      family.refusal = "numbered, so there are no sizes";
    } else {
      add_laws_and_times(data, groups_by_size, options.has_times, family);
    }
    families.push_back(std::move(family));
  }
  return families;
}

namespace {

/// Digits alone, without a sign.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const bool has_sign = text.empty() || text.front() < '0' || text.front() > '9';
  if (has_sign) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A part that Google Benchmark appends to a name, and that is no size.
bool is_setting(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kSettings = {"iterations", "repeats", "min_time", "min_warmup_time"};
  return std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end();
}

/// Collects the parts of a name and its arguments.
class Builder {
 public:
  void text(std::string_view text) { sized_.parts.back() += text; }
  void argument(std::string_view name, std::int64_t value) {
    sized_.arguments.push_back({std::string(name), value});
    sized_.parts.emplace_back();
  }
  SizedName take() { return std::move(sized_); }

 private:
  SizedName sized_ = {{""}, {}};
};

}  // namespace

SizedName sized_benchmark(std::string_view name) {
  Builder builder;
  for (bool is_first = true; !name.empty() || is_first; is_first = false) {
    const std::size_t end = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (!is_first) builder.text("/");
    const std::size_t colon = part.rfind(':');
    const std::string_view word = colon == std::string_view::npos ? std::string_view() : part.substr(0, colon);
    const auto value = number_of(colon == std::string_view::npos ? part : part.substr(colon + 1));
    // The first part is the function: `BM_Copy<4>` or `7` are no sizes of it.
    if (is_first || !value || is_setting(word)) {
      builder.text(part);
      continue;
    }
    if (!word.empty()) builder.text(std::string(word) + ":");
    builder.argument(word, *value);
  }
  return builder.take();
}

SizedName sized_test(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = name.rfind('.');
  Builder builder;
  // `Typed/0.Works` is the test `Works` of the first type.
  if (slash == std::string_view::npos || (dot != std::string_view::npos && slash < dot)) {
    builder.text(name);
    return builder.take();
  }
  builder.text(name.substr(0, slash + 1));
  std::string_view rest = name.substr(slash + 1);
  std::string word;
  while (!rest.empty()) {
    const auto digit = std::find_if(rest.begin(), rest.end(), is_digit);
    const auto before = static_cast<std::size_t>(digit - rest.begin());
    word = rest.substr(0, before);
    builder.text(word);
    rest.remove_prefix(before);
    if (rest.empty()) break;
    const auto other = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin());
    const auto value = number_of(rest.substr(0, other));
    if (!value) {
      builder.text(rest.substr(0, other));
    } else {
      const std::size_t begin = word.find_first_not_of('_');
      const std::size_t end = word.find_last_not_of('_');
      builder.argument(begin == std::string::npos ? "" : word.substr(begin, end - begin + 1), *value);
    }
    rest.remove_prefix(other);
  }
  return builder.take();
}

std::vector<Argument> sizes_of_label(std::string_view label) {
  constexpr std::string_view kBreaks = ",; ";
  std::vector<Argument> sizes;
  while (!label.empty()) {
    const std::size_t end = std::min(label.find_first_of(kBreaks), label.size());
    const std::string_view pair = label.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && equals != 0) {
      if (const auto value = number_of(pair.substr(equals + 1))) {
        sizes.push_back({std::string(pair.substr(0, equals)), *value});
      }
    }
    label.remove_prefix(std::min(end + 1, label.size()));
  }
  return sizes;
}

}  // namespace syscost::bench::scale
