// SPDX-License-Identifier: MIT
#include "commands/surroundings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/surroundings.h"

namespace syscost::bench::commands {
namespace {

struct Fact {
  std::string_view name;   ///< In the CSV.
  std::string_view words;  ///< For people.
  std::string_view advice;
};

/// The fact that changed the most counts comes first (table in docs/statistics.md). Facts that changed no count are in
/// the CSV and not here, unless strace shows that they can.
constexpr std::array<Fact, 10> kFacts = {{
    {"output", "standard output", "a terminal gets each line by its own write; use a file or a pipe for both"},
    {"time_zone", "TZ", "without it each localtime() looks at /etc/localtime; set it for both, or for neither"},
    {"open_files", "limit of open files", "programs try, keep or close as many as it allows; set `ulimit -n` for both"},
    {"stack", "limit of the stack",
     "the map of memory differs, and reading it takes other calls; set `ulimit -s` for both"},
    {"cpus", "number of processors",
     "the number of threads, and libc's calls for them, depend on it; run both with `taskset -c` on the same number"},
    {"libc", "libc", "its functions may make other calls; run both with the same version"},
    {"locale", "locale", "the first use of one opens its files; set LC_ALL for both"},
    {"user", "user", "root may open more files; run both as the same user"},
    {"preload", "LD_PRELOAD", "a preloaded library may make its own calls; set it for both, or for neither"},
    {"page", "size of a page", "sizes of memory and buffers depend on it"},
}};

}  // namespace

std::vector<std::string> surroundings_lines(const model::Dataset& before, const model::Dataset& after) {
  const std::vector<model::ChangedFact> changed = model::changed_facts(model::facts_of(before), model::facts_of(after));
  std::vector<std::string> lines;
  for (const Fact& fact : kFacts) {
    const auto found = std::find_if(changed.begin(), changed.end(),
                                    [&](const model::ChangedFact& one) { return one.name == fact.name; });
    if (found == changed.end()) continue;
    lines.push_back(fmt::format("{} differs ({} -> {}): {}", fact.words, found->before, found->after, fact.advice));
  }
  return lines;
}

std::vector<std::pair<std::string, std::string>> facts_to_remember(const model::Dataset& data) {
  const model::Facts facts = model::facts_of(data);
  std::vector<std::pair<std::string, std::string>> all;
  for (const Fact& fact : kFacts) {
    if (const auto found = facts.find(fact.name); found != facts.end()) {
      all.emplace_back(fact.words, model::joined(found->second));
    }
  }
  return all;
}

std::string_view advice_on(std::string_view name) {
  const auto found = std::find_if(kFacts.begin(), kFacts.end(), [&](const Fact& fact) { return fact.words == name; });
  return found == kFacts.end() ? std::string_view() : found->advice;
}

}  // namespace syscost::bench::commands
