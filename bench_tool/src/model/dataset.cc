// SPDX-License-Identifier: MIT
#include "model/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "csv/text.h"
#include "model/row_store.h"
#include "syscost/schema.h"

namespace syscost::bench::model {

void Dataset::make_printable() {
  names.make_printable();
  name = csv::printable(name);
  for (std::string& file : files) file = csv::printable(file);
}

namespace {

std::size_t rank_of_kind(std::string_view kind) {
  static constexpr std::array<std::string_view, 9> kOrder = {
      "test",  "loop",        "benchmark", schema::kKindGpuKernel, "scope",
      "suite", "environment", "process",   schema::kKindBetween};
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
}

/// The same groups; each loop follows the window in which it ran.
std::vector<Group> loops_after_owners(const Dataset& data, std::vector<Group> groups) {
  using Key = std::tuple<NameId, NameId, NameId, NameId>;
  std::map<Key, std::vector<std::size_t>> loops;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    if (group.is_loop(data)) loops[Key(group.test, group.parent, group.origin, group.program)].push_back(i);
  }
  if (loops.empty()) return groups;
  static constexpr std::array<std::string_view, 3> kOwners = {"test", "suite", "environment"};
  std::vector<Group> ordered;
  std::vector<bool> is_placed(groups.size(), false);
  ordered.reserve(groups.size());
  std::vector<std::vector<std::size_t>> inside(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    if (std::find(kOwners.begin(), kOwners.end(), data.text(group.kind)) == kOwners.end()) continue;
    auto found = loops.find(Key(group.test, group.window, group.origin, group.program));
    if (found == loops.end()) continue;
    inside[i] = std::move(found->second);
    for (std::size_t loop : inside[i]) is_placed[loop] = true;
    loops.erase(found);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (is_placed[i]) continue;
    const std::size_t owner = ordered.size();
    ordered.push_back(std::move(groups[i]));
    for (std::size_t loop : inside[i]) {
      groups[loop].owner = owner;
      ordered.push_back(std::move(groups[loop]));
    }
  }
  return ordered;
}

/// The same groups. A tool's counts of a window follow ours of it, or are left out.
std::vector<Group> with_tools(const Dataset& data, std::vector<Group> groups, Tools which) {
  const auto is_ours = [&](const Group& group) { return data.text(group.origin) == schema::kOriginSyscost; };
  if (std::all_of(groups.begin(), groups.end(), is_ours)) return groups;
  using Key = std::tuple<NameId, NameId, NameId, NameId, NameId>;
  const auto key = [](const Group& group) {
    return Key(group.kind, group.test, group.window, group.parent, group.program);
  };
  // If nothing else counted, the rows of the tool stay.
  const auto is_left_out = [&](const Group& ours) {
    return which == Tools::left_out && std::any_of(ours.samples.begin(), ours.samples.end(), [&](std::uint32_t sample) {
             const Totals& totals = data.samples[sample].totals;
             return totals.entries.has_value() || totals.calls.has_value();
           });
  };
  std::set<Key> ours;
  for (const Group& group : groups) {
    if (is_ours(group)) ours.insert(key(group));
  }
  std::map<Key, std::vector<Group>> tools;
  std::vector<Group> rest;
  for (Group& group : groups) {
    std::vector<Group>& place = !is_ours(group) && ours.count(key(group)) != 0 ? tools[key(group)] : rest;
    place.push_back(std::move(group));
  }
  std::vector<Group> ordered;
  for (Group& group : rest) {
    const auto its = tools.find(key(group));
    const bool stands_alone = its == tools.end() || is_left_out(group);
    ordered.push_back(std::move(group));
    if (stands_alone) continue;
    for (Group& tool : its->second) ordered.push_back(std::move(tool));
    tools.erase(its);
  }
  return ordered;
}

/// Rows of the same window, but perhaps of another program.
bool is_alike(const Sample& a, const Sample& b) {
  return std::tie(a.test, a.kind, a.window, a.parent, a.origin) ==
         std::tie(b.test, b.kind, b.window, b.parent, b.origin);
}

std::uint64_t hash_of(const Sample& sample, NameId program) {
  std::uint64_t hash = program;
  for (const NameId part : {sample.test, sample.kind, sample.window, sample.parent, sample.origin}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  }
  return hash;
}

void mark_ambiguous(std::vector<Group>& groups) {
  std::map<std::tuple<NameId, NameId, NameId, NameId, NameId>, std::size_t> programs_of;
  const auto key = [](const Group& group) {
    return std::tuple(group.test, group.kind, group.window, group.parent, group.origin);
  };
  for (const Group& group : groups) ++programs_of[key(group)];
  for (Group& group : groups) group.is_ambiguous = programs_of[key(group)] > 1;
}

}  // namespace

bool is_same_window(const Group& a, const Group& b) {
  return std::tie(a.kind, a.test, a.window, a.parent, a.program) ==
         std::tie(b.kind, b.test, b.window, b.parent, b.program);
}

std::vector<Group> group_samples(Dataset& data, Tools tools) {
  // A million tests make a million groups. So it counts them first, and allocates each at its final size.
  const auto program_of = [&](std::uint32_t sample) { return data.context(data.samples[sample]).program; };
  std::vector<std::uint32_t> first;  // sample of each group
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> group_of(data.samples.size());
  IdIndex index;
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    const std::uint64_t hash = hash_of(data.samples[i], program_of(i));
    std::uint32_t found = index.find(hash, [&](std::uint32_t group) {
      return is_alike(data.samples[first[group]], data.samples[i]) && program_of(first[group]) == program_of(i);
    });
    if (found == IdIndex::kNone) {
      found = static_cast<std::uint32_t>(first.size());
      first.push_back(i);
      sizes.push_back(0);
      index.insert(hash, found);
    }
    group_of[i] = found;
    ++sizes[found];
  }
  std::vector<Group> groups;
  groups.reserve(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Sample& sample = data.samples[first[i]];
    groups.push_back(
        {sample.kind, sample.test, sample.window, sample.parent, sample.origin, program_of(first[i]), {}, false, {}});
    groups.back().samples.reserve(sizes[i]);
  }
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) groups[group_of[i]].samples.push_back(i);
  if (std::any_of(groups.begin(), groups.end(), [&](const Group& one) { return one.program != groups[0].program; })) {
    mark_ambiguous(groups);
  }
  const auto by_rank = [&](const Group& a, const Group& b) {
    return rank_of_kind(data.text(a.kind)) < rank_of_kind(data.text(b.kind));
  };
  if (!std::is_sorted(groups.begin(), groups.end(), by_rank)) std::stable_sort(groups.begin(), groups.end(), by_rank);
  return loops_after_owners(data, with_tools(data, std::move(groups), tools));
}

std::string_view kind_words(std::string_view kind) {
  if (kind == schema::kKindBetween) return "between tests";
  return kind == schema::kKindGpuKernel ? "GPU kernel" : kind;
}

std::string owner_name(const Dataset& data, const Group& loop) {
  const std::string& test = data.text(loop.test);
  if (loop.parent == kNoName) return test;
  return (test.empty() ? "environment" : "suite " + test) + ", " + data.text(loop.parent);
}

std::string base_name(const Dataset& data, const Group& group) {
  const std::string& test = data.text(group.test);
  const std::string& window = data.text(group.window);
  const std::string& parent = data.text(group.parent);
  std::string name;
  if (group.is_loop(data)) {
    name = owner_name(data, group);
    name += (name.empty() ? "loop " : ", loop ") + window;
  } else {
    name =
        group.is_test(data) ? test : std::string(kind_words(data.text(group.kind))) + (test.empty() ? "" : " ") + test;
    if (!window.empty()) name += ", " + window;
    if (!parent.empty() && parent != test) name += " in " + parent;
  }
  if (data.text(group.origin) != schema::kOriginSyscost) name += fmt::format(" [{}]", data.text(group.origin));
  return name;
}

std::string full_name(const Dataset& data, const Group& group) {
  return fmt::format("{} ({})", base_name(data, group), data.text(group.program));
}

std::string display_name(const Dataset& data, const Group& group) {
  return group.is_ambiguous ? full_name(data, group) : base_name(data, group);
}

std::string_view program_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace syscost::bench::model
