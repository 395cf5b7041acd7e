// SPDX-License-Identifier: MIT
#include "commands/shared/run_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "model/incomplete_run.h"
#include "model/programs.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {

std::string seconds_of(const std::string& time) {
  const std::size_t dot = time.find('.');
  return dot == std::string::npos ? time : time.substr(0, dot) + 'Z';
}

std::string run_line(const model::Dataset& data) {
  std::set<std::string> runs;
  std::set<std::string> labels;
  std::set<std::string> commits;
  std::set<std::string> starts;
  std::set<std::string> filters;
  std::set<std::uint32_t> contexts;
  for (const model::Sample& sample : data.samples) contexts.insert(sample.context);
  for (const std::uint32_t index : contexts) {
    const model::Context& context = data.contexts[index];
    // A file of Google Benchmark has nothing but the time to identify its run.
    if (!context.is_plain) runs.insert(data.text(context.run_id));
    if (context.label != model::kNoName) labels.insert(data.text(context.label));
    if (context.commit != model::kNoName) commits.insert(data.text(context.commit).substr(0, kCommitDigits));
    if (context.started_at != model::kNoName) starts.insert(seconds_of(data.text(context.started_at)));
    filters.insert(context.filter == model::kNoName ? "" : data.text(context.filter));
  }
  std::string text = data.name + ":";
  const std::string shards = model::shards_text(data);
  if (runs.size() == 1) text += fmt::format(" run {}", *runs.begin());
  // Without a common run_id each shard is a run of its own.
  if (runs.size() > 1) text += shards.empty() ? fmt::format(" {} runs", runs.size()) : " a run";
  if (!shards.empty()) text += ' ' + shards;
  if (!runs.empty()) text += ',';
  if (!labels.empty()) text += fmt::format(" label {},", fmt::join(labels, " and "));
  if (!commits.empty()) text += fmt::format(" commit {},", fmt::join(commits, " and "));
  if (starts.size() == 1) text += fmt::format(" {},", *starts.begin());
  if (starts.size() > 1) text += fmt::format(" {} to {},", *starts.begin(), *starts.rbegin());
  text.pop_back();
  if (filters.size() == 1 && !filters.begin()->empty()) text += fmt::format(", only {} was counted", *filters.begin());
  if (filters.size() > 1) text += ", counted under several filters";
  return text;
}

namespace {

constexpr std::size_t kMostLines = 10;

/// The test that `before` has next after those that ended. "" if `data` has it, or if it is not known.
std::string next_test(const model::Dataset& before, const model::Dataset& data, const model::Unfinished& crashed) {
  if (crashed.has_exited || crashed.has_finished || !crashed.test.empty() || !crashed.is_after_known) return {};
  const auto names_of = [&](const model::Dataset& of) {
    std::vector<std::string> names;
    for (const model::Sample& sample : of.samples) {
      const bool is_its = of.text(of.context(sample).program) == crashed.program && of.text(sample.kind) == "test" &&
                          of.text(sample.origin) == schema::kOriginSyscost;
      if (is_its && (names.empty() || names.back() != of.text(sample.test))) names.push_back(of.text(sample.test));
    }
    return names;
  };
  const std::vector<std::string> old_names = names_of(before);
  const std::vector<std::string> here = names_of(data);
  auto next = old_names.begin();
  if (!crashed.after.empty()) {
    next = std::find(old_names.begin(), old_names.end(), crashed.after);
    if (next != old_names.end()) ++next;
  }
  return next == old_names.end() || std::find(here.begin(), here.end(), *next) != here.end() ? "" : *next;
}

}  // namespace

std::vector<std::string> crash_lines(const model::Dataset& data) {
  // Under ctest, a process for each test may crash in the same way.
  std::vector<std::pair<std::string, std::size_t>> texts;
  std::size_t last_crash = 0;
  for (const model::Unfinished& one : model::unfinished_programs(data)) {
    std::string text = "crashed: " + model::text_of(one);
    const auto same = std::find_if(texts.begin(), texts.end(), [&](const auto& other) { return other.first == text; });
    if (same != texts.end()) {
      ++same->second;
      continue;
    }
    texts.emplace_back(std::move(text), 1);
    if (!one.has_exited && one.how.empty()) last_crash = texts.size();
  }
  if (last_crash != 0) texts[last_crash - 1].first += "; by a signal, _exit() or exec, or it still runs";
  for (const model::FailedOutside& one : model::failed_outside_of_tests(data)) {
    texts.emplace_back("failed: " + model::text_of(one), 1);
  }
  std::vector<std::string> lines;
  for (const auto& [text, times] : texts) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("and {} more", texts.size() - kMostLines));
      break;
    }
    lines.push_back(times == 1 ? text : fmt::format("{} ({} times)", text, times));
  }
  return lines;
}

std::string ProgramFaults::text() const {
  std::string out;
  if (crashed != 0) out = fmt::format("{} program{} crashed", crashed, crashed == 1 ? "" : "s");
  if (failed_outside != 0) {
    out += fmt::format("{}{} program{} failed outside of {} tests", out.empty() ? "" : ", ", failed_outside,
                       failed_outside == 1 ? "" : "s", failed_outside == 1 ? "its" : "their");
  }
  if (!command.empty()) out += fmt::format("{}the command ended with {}", out.empty() ? "" : ", ", command);
  return out;
}

ProgramFaults program_faults(const model::Dataset& data, const model::Dataset* before) {
  std::set<std::string> crashed_before;
  std::set<std::string> failed_before;
  if (before != nullptr) {
    for (const model::Unfinished& one : model::unfinished_programs(*before)) crashed_before.insert(one.program);
    for (const model::FailedOutside& one : model::failed_outside_of_tests(*before)) failed_before.insert(one.program);
  }
  ProgramFaults faults;
  for (const model::Unfinished& one : model::unfinished_programs(data)) {
    if (crashed_before.count(one.program) != 0) continue;
    const std::string next = before != nullptr ? next_test(*before, data, one) : "";
    std::string text = model::text_of(one) + (next.empty() ? "" : fmt::format("; the next test of OLD is {}", next));
    if (std::find(faults.sentences.begin(), faults.sentences.end(), text) != faults.sentences.end()) continue;
    ++faults.crashed;
    faults.names.push_back(one.program);
    faults.sentences.push_back(std::move(text));
  }
  for (const model::FailedOutside& one : model::failed_outside_of_tests(data)) {
    // Tests that did not run are missing, and are judged so.
    if (one.has_not_begun || failed_before.count(one.program) != 0) continue;
    ++faults.failed_outside;
    faults.names.push_back(one.program);
    faults.sentences.push_back(model::text_of(one));
  }
  return faults;
}

void note_crashes(const model::Dataset& data, csv::Problems& problems) {
  for (std::string& line : crash_lines(data)) problems.add(data.name, 0, std::move(line));
}

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
