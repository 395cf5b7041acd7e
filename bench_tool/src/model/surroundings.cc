// SPDX-License-Identifier: MIT
#include "model/surroundings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

constexpr char kEntrySeparator = '+';

/// Adds `name=value;name=value`.
void add_facts(std::string_view text, const std::string& program, Facts& facts) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;  // of a version to come
    const std::string_view name = one.substr(0, equals);
    // These differ in any case.
    if (name == schema::kFactProcessStart || name == schema::kFactProgramPath || name == schema::kFactBenchRun) continue;
    facts[std::string(one.substr(0, equals))][program].emplace(one.substr(equals + 1));
  }
}

Values values_of(std::string_view text) {
  Values values;
  for (;;) {
    const std::size_t end = text.find(kEntrySeparator);
    values.emplace(text.substr(0, end));
    if (end == std::string_view::npos) return values;
    text.remove_prefix(end + 1);
  }
}

std::string text_of(const Values& values) {
  return fmt::format("{}", fmt::join(values, "+"));
}

Values all_of(const std::map<std::string, Values>& by_program) {
  Values all;
  for (const auto& [program, values] : by_program) all.insert(values.begin(), values.end());
  return all;
}

}  // namespace

std::string_view fact_in(std::string_view facts, std::string_view name) {
  while (!facts.empty()) {
    const std::string_view one = facts.substr(0, facts.find(';'));
    facts.remove_prefix(std::min(facts.size(), one.size() + 1));
    if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

Facts facts_of(const Dataset& data) {
  std::set<std::pair<std::uint32_t, NameId>> chosen;
  for (const Sample& sample : data.samples) {
    const Context& context = data.context(sample);
    chosen.emplace(context.file, context.run_id);
  }
  Facts facts;
  for (const RunFacts& run : data.runs) {
    const Context& context = data.contexts[run.context];
    if (chosen.count({context.file, context.run_id}) == 0) continue;
    add_facts(data.text(run.surroundings), data.text(context.program), facts);
  }
  return facts;
}

std::string values_of(const Dataset& data, NameId Context::*field) {
  Values values;
  for (const Sample& sample : data.samples) {
    const Context& context = data.context(sample);
    if (!context.is_plain || context.*field != kNoName) values.insert(data.text(context.*field));
  }
  return text_of(values);
}

std::string joined(const std::map<std::string, Values>& by_program) {
  return text_of(all_of(by_program));
}

std::vector<ChangedFact> changed_facts(const Facts& before, const Facts& after) {
  std::vector<ChangedFact> changed;
  for (const auto& [name, old_programs] : before) {
    const auto found = after.find(name);
    if (found == after.end()) continue;
    Values old_values;
    Values new_values;
    bool has_common = false;
    for (const auto& [program, values] : old_programs) {
      const auto same = found->second.find(program);
      if (same == found->second.end()) continue;
      has_common = true;
      if (same->second == values) continue;
      old_values.insert(values.begin(), values.end());
      new_values.insert(same->second.begin(), same->second.end());
    }
    if (!has_common) {
      old_values = all_of(old_programs);
      new_values = all_of(found->second);
    }
    if (old_values != new_values) changed.push_back({name, text_of(old_values), text_of(new_values)});
  }
  return changed;
}

bool has_all(std::string_view before, std::string_view after) {
  const Values old_values = values_of(before);
  const Values new_values = values_of(after);
  return std::includes(old_values.begin(), old_values.end(), new_values.begin(), new_values.end());
}

}  // namespace syscost::bench::model
