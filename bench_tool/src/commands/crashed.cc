// SPDX-License-Identifier: MIT
#include "commands/crashed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "model/unfinished.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
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

}  // namespace syscost::bench::commands
