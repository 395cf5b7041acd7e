// SPDX-License-Identifier: MIT
#include "faults/learning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "faults/outcome.h"
#include "faults/sweep.h"
#include "faults/test_row.h"
#include "model/choice.h"
#include "os/temporary_folder.h"

namespace syscost::bench::faults {
namespace {

std::string escaped(const std::string& name, std::string_view special) {
  std::string text;
  for (const char c : name) {
    if (special.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

/// A row's `opens#2` may be the test's own name, or that of the second test `opens`. If it is the second, the others of
/// that name run, too.
std::vector<std::string> names_in_program(const std::string& name) {
  std::vector<std::string> names = {name};
  const std::size_t mark = name.rfind('#');
  const bool has_number = mark != std::string::npos && mark + 1 < name.size() &&
                          name.find_first_not_of("0123456789", mark + 1) == std::string::npos;
  if (has_number) names.push_back(name.substr(0, mark));
  return names;
}

}  // namespace

std::string_view word_of(Framework framework) {
  return framework == Framework::googletest ? "googletest" : framework == Framework::catch2 ? "catch2" : "doctest";
}

std::optional<Framework> framework_in(std::string_view help) {
  const auto has = [&](std::string_view word) { return help.find(word) != std::string_view::npos; };
  // doctest's help names Catch nowhere, and GoogleTest's names neither.
  if (has("--gtest_filter")) return Framework::googletest;
  if (has("[doctest]")) return Framework::doctest;
  if (has("Catch")) return Framework::catch2;
  return std::nullopt;
}

std::string selecting(Framework framework, const std::string& name) {
  const std::vector<std::string> names = names_in_program(name);
  switch (framework) {
    case Framework::googletest: {
      std::vector<std::string> filters = names;
      for (std::string& filter : filters) {
        std::replace_if(
            filter.begin(), filter.end(), [](char c) { return c == '-' || c == ':'; }, '?');
      }
      return fmt::format("--gtest_filter={}", fmt::join(filters, ":"));
    }
    case Framework::doctest: {
      std::string filter;
      for (const std::string& one : names) {
        // A row names the suite, too, and doctest's filter does not; a name without a suite may have a full stop as
        // well.
        const std::size_t stop = one.find('.');
        filter += (filter.empty() ? "--test-case=" : ",") + escaped(one, ",\\");
        if (stop != std::string::npos) filter += ',' + escaped(one.substr(stop + 1), ",\\");
      }
      return filter;
    }
    case Framework::catch2:
      break;
  }
  std::string selected;
  for (const std::string& one : names) {
    // A test of Catch2 may begin with what it takes for an option, a tag or a negation.
    selected += (selected.empty() ? "\"" : ",\"") + escaped(one, "\"\\,[") + '"';
  }
  return selected;
}

bool may_select_others(Framework framework, const std::string& name) {
  return framework == Framework::googletest && name.find_first_of("-:*?") != std::string::npos;
}

// The first half of a sweep: the framework of the program, its tests, and the calls that each makes when nothing fails.

namespace {

using namespace std::chrono_literals;

/// Listing runs the whole suite once.
constexpr auto kListLimit = 3600s;
constexpr auto kHelpLimit = 30s;

/// The last lines of what a run printed.
std::string tail(const std::string& output) {
  constexpr std::size_t kMost = 1500;
  std::string text = output.size() > kMost ? output.substr(output.size() - kMost) : output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "It printed nothing." : "It printed:\n" + text;
}

std::string end_text(const ContainedEnd& end) {
  if (!end.fault.empty()) return end.fault;
  if (end.is_timed_out) return "it ran until the time limit";
  if (!end.report.refusal.empty()) return end.report.refusal;
  if (!end.report.status) return "syscost-run " + how_it_ended(end.status);
  if (WIFSIGNALED(*end.report.status)) return signal_name(WTERMSIG(*end.report.status));
  return fmt::format("exit code {}", WEXITSTATUS(*end.report.status));
}

/// `all`: the names of all tests; empty if they are not known.
std::string no_test_text(const SweepOptions& options, const std::vector<std::string>& all) {
  const std::string pattern = options.tests.text();
  if (all.empty()) {
    return fmt::format("no test matches --test {}\n`{} --gtest_list_tests` prints the names.", pattern,
                       options.command.front());
  }
  return fmt::format("no test matches --test {}{}", pattern, model::or_rather(pattern, all));
}

}  // namespace

std::string Sweep::find_framework(ContainedRuns& runs) {
  if (options_.framework) return {};
  ContainedCommand help;
  help.arguments = {options_.command.front(), "--help"};
  help.folder = options_.folder;
  help.limit = kHelpLimit;
  const std::optional<ContainedEnd> end = run_one(runs, help);
  if (!end) return {};
  if (!end->has_started) return end->fault;
  if (!end->fault.empty()) return fmt::format("{} --help cannot be run: {}", options_.command.front(), end->fault);
  options_.framework = framework_in(end->output);
  if (options_.framework) return {};
  return fmt::format(
      "{} --help prints nothing of GoogleTest, Catch2 or doctest, so bench cannot select its tests one by one\n"
      "If it is a program of one of these, name it: --framework googletest, catch2 or doctest.",
      options_.command.front());
}

std::string Sweep::list_tests(ContainedRuns& runs, std::vector<std::string>& names) {
  const std::string csv = runs.folder() / "list.csv";
  const bool has_pattern = options_.framework == Framework::googletest && !options_.tests.is_everything();
  ContainedCommand list = measured(csv, {}, has_pattern ? "--gtest_filter=" + options_.tests.text() : "");
  list.limit = kListLimit;
  const std::optional<ContainedEnd> end = run_one(runs, list);
  if (!end) return {};
  if (std::string fault = runner_fault(*end); !fault.empty()) return fault;
  for (std::string& name : tests_in(csv)) {
    if (options_.tests.matches({name})) names.push_back(std::move(name));
  }
  if (!names.empty()) return {};
  // GoogleTest has applied the pattern itself, so its rows do not tell a pattern that fits no test from a program that
  // failed; its last line does.
  const bool has_none = has_pattern && end->output.find(" 0 tests from 0 test ") != std::string::npos;
  if (has_none || !tests_in(csv).empty()) return no_test_text(options_, tests_in(csv));
  return fmt::format("a run of the tests without a failure gave no rows ({})\n{}", end_text(*end), tail(end->output));
}

std::string Sweep::learn(ContainedRuns& runs) {
  if (state_.has_learned) return {};
  std::string fault = find_framework(runs);
  std::vector<std::string> names;
  if (fault.empty() && !was_interrupted_) fault = list_tests(runs, names);
  if (!fault.empty() || was_interrupted_) return fault;
  std::set<std::string> known;
  for (const LearnedTest& test : state_.tests) known.insert(test.name);
  names.erase(
      std::remove_if(names.begin(), names.end(), [&](const std::string& name) { return known.count(name) != 0; }),
      names.end());
  const std::size_t before = state_.tests.size();
  const std::size_t all = before + names.size();
  // Two runs of each test: they show the calls in their order, and whether they are the same each time. The second one
  // also shows if the test bears that sanitizers write to a file: a death test may look for the report.
  std::size_t done = before;
  const auto artifacts = [&](std::size_t task) { return (runs.folder() / fmt::format("traces-{}", task)).string(); };
  const auto make = [&](std::size_t task) {
    Task made{task, {}, (runs.folder() / fmt::format("learn-{}.csv", task)).string()};
    std::vector<std::string> flags;
    if (task % 2 == 0) flags = {"--trace", "--artifacts=" + artifacts(task)};
    if (task % 2 == 0 && options_.has_lines) flags.emplace_back("--where");
    made.command = measured(made.csv, flags, selecting(*options_.framework, names[task / 2]));
    made.command.has_report_file = task % 2 != 0;
    made.command.limit = std::max<std::chrono::nanoseconds>(options_.timeout, 60s);
    return made;
  };
  std::map<std::size_t, LearnedTest> half;
  const auto take = [&](const Task& task, ContainedEnd&& end) -> std::string {
    if (std::string missing = runner_fault(end); !missing.empty()) return missing;
    LearnedTest test;
    test.name = names[task.index / 2];
    Observed seen;
    seen.end = std::move(end);
    read_row(task.csv, test.name, nullptr, seen);
    test.wall_ns = seen.end.wall_ns;
    test.descriptors_left = seen.descriptors_left;
    test.entries = seen.entries;
    test.child_signals = seen.end.child_signals;
    std::vector<std::string> others;
    if (may_select_others(*options_.framework, test.name)) others = tests_in(task.csv);
    others.erase(std::remove(others.begin(), others.end(), test.name), others.end());
    const bool has_passed = seen.has_row && seen.verdict == "passed" && seen.end.fault.empty() &&
                            !seen.end.is_timed_out && seen.end.report.status == 0;
    const bool is_odd = task.index % 2 != 0;
    test.has_report_file = has_passed || !is_odd || !seen.end.has_report;
    if (!has_passed && test.has_report_file) {
      test.why_left_out = !seen.has_row              ? "alone it has no row: " + end_text(seen.end)
                          : seen.verdict != "passed" ? fmt::format("alone it is {}", seen.verdict)
                                                     : "alone it passes, then " + end_text(seen.end);
    }
    if (!others.empty()) {
      test.why_left_out =
          fmt::format("its name has signs that --gtest_filter takes for its own, and {} selects {}, too",
                      selecting(*options_.framework, test.name), others.front());
    }
    if (task.index % 2 == 0) {
      test.places = places_of(task.csv, artifacts(task.index), test.name);
      // A test may make a million calls; without --every-call only the first of each place is of use.
      for (Place& place : test.places) {
        if (!options_.plan.has_every_call) place.nths.resize(1);
      }
      remove_tree(artifacts(task.index));  // for the room; what stays is named at the end
    }
    const auto other = half.find(task.index / 2);
    if (other == half.end()) {
      half.emplace(task.index / 2, std::move(test));
      return {};
    }
    LearnedTest& earlier = other->second;
    if (test.places.empty()) test.places = std::move(earlier.places);
    if (test.why_left_out.empty()) test.why_left_out = earlier.why_left_out;
    for (const auto& [signal, count] : earlier.child_signals) {
      test.child_signals[signal] = std::max(test.child_signals[signal], count);
    }
    test.is_steady = test.entries == earlier.entries;
    test.has_report_file = test.has_report_file && earlier.has_report_file;
    test.wall_ns = std::max(test.wall_ns, earlier.wall_ns);
    test.descriptors_left = std::max(test.descriptors_left, earlier.descriptors_left);
    half.erase(other);
    std::string written = file_.add(test);
    state_.tests.push_back(std::move(test));
    show_({true, ++done, all, 0});
    return written;
  };
  show_({true, done, all, 0});
  fault = run_all(runs, 2 * names.size(), make, take);
  if (!fault.empty() || was_interrupted_) return fault;
  state_.has_learned = true;
  state_.framework = *options_.framework;
  return file_.end_learning(state_.framework);
}

}  // namespace syscost::bench::faults
