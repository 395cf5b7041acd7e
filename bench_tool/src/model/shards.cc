// SPDX-License-Identifier: MIT
#include "model/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace syscost::bench::model {
namespace {

constexpr std::string_view kFact = "shard=";
constexpr std::string_view kOf = " of ";
/// A file may claim more; then it has no shard.
constexpr unsigned kMostShards = 100'000;

using Numbers = std::set<unsigned>;  ///< From 1.

std::optional<unsigned> number_in(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 || number > kMostShards) return {};
  return number;
}

/// Number and total of "libc=glibc 2.36;shard=2 of 4".
std::optional<std::pair<unsigned, unsigned>> shard_in(std::string_view facts) {
  while (!facts.empty()) {
    const std::string_view one = facts.substr(0, facts.find(';'));
    facts.remove_prefix(std::min(facts.size(), one.size() + 1));
    const std::size_t of = one.find(kOf);
    if (!one.starts_with(kFact) || of == std::string_view::npos) continue;
    const auto number = number_in(one.substr(kFact.size(), of - kFact.size()));
    const auto total = number_in(one.substr(of + kOf.size()));
    if (number && total && *number <= *total) return std::pair(*number, *total);
  }
  return {};
}

/// The shards that are here, by program and total, then by run.
std::map<std::pair<std::string, unsigned>, std::map<NameId, Numbers>> shards_of(const Dataset& data) {
  std::map<std::pair<std::string, unsigned>, std::map<NameId, Numbers>> all;
  for (const RunFacts& run : data.runs) {
    const Context& context = data.contexts[run.context];
    const auto shard = shard_in(data.text(run.surroundings));
    if (shard) all[{data.text(context.program), shard->second}][context.run_id].insert(shard->first);
  }
  return all;
}

/// "shard 3", "shards 1, 2 and 4"; of many the first.
std::string list_of(const Numbers& numbers) {
  constexpr std::size_t kMostNamed = 12;
  std::string text;
  std::size_t named = 0;
  for (const unsigned number : numbers) {
    const std::size_t left = numbers.size() - named;
    if (named == kMostNamed) return fmt::format("shards {} and {} more", text, left);
    const bool is_last = left == 1;
    text += fmt::format("{}{}", named == 0 ? "" : is_last ? " and " : ", ", number);
    ++named;
  }
  return (numbers.size() == 1 ? "shard " : "shards ") + text;
}

std::string fault_of(const std::string& program, unsigned total, const Numbers& here) {
  Numbers missing;
  for (unsigned number = 1; number <= total; ++number) {
    if (here.count(number) == 0) missing.insert(missing.end(), number);
  }
  return fmt::format("{} of {} of {} {} missing: only {} {} here; bring the CSV of each shard, or run what is missing",
                     list_of(missing), total, program, missing.size() == 1 ? "is" : "are", list_of(here),
                     here.size() == 1 ? "is" : "are");
}

}  // namespace

std::string shards_text(const Dataset& data) {
  std::set<std::pair<unsigned, Numbers>> distinct;
  for (const auto& [key, runs] : shards_of(data)) {
    Numbers here;
    for (const auto& [run, numbers] : runs) here.insert(numbers.begin(), numbers.end());
    distinct.emplace(key.second, here);
  }
  if (distinct.size() != 1) return {};
  const auto& [total, here] = *distinct.begin();
  return here.size() == total ? fmt::format("in {} shards", total) : fmt::format("only {} of {}", list_of(here), total);
}

std::vector<std::string> missing_shards(const Dataset& data, RunsAre runs_are) {
  std::vector<std::string> faults;
  for (const auto& [key, runs] : shards_of(data)) {
    const auto& [program, total] = key;
    Numbers alone;
    for (const auto& [run, numbers] : runs) {
      if (numbers.size() == 1) {
        alone.insert(numbers.begin(), numbers.end());
      } else if (numbers.size() < total) {
        const std::string of_run = runs_are == RunsAre::apart ? fmt::format("run {}: ", data.text(run)) : "";
        faults.push_back(of_run + fault_of(program, total, numbers));
      }
    }
    const bool is_chosen = runs_are == RunsAre::apart || (runs_are == RunsAre::one_file && alone.size() == 1);
    if (!alone.empty() && alone.size() < total && !is_chosen) faults.push_back(fault_of(program, total, alone));
  }
  return faults;
}

}  // namespace syscost::bench::model
