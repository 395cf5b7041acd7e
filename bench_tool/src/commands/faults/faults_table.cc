// SPDX-License-Identifier: MIT
//
// The results of a sweep, added up by call site and put in order.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "commands/faults/faults.h"
#include "csv/text.h"
#include "faults/learning.h"
#include "os/command_line.h"

namespace syscost::bench::commands {
namespace {

using faults::Done;
using faults::Outcome;

std::string how_many(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// `3 futex, 1 ioctl`
std::string not_in_list(const faults::PlanSize& plan) {
  std::vector<std::string> names;
  for (const auto& [syscall, calls] : plan.not_in_list) names.push_back(fmt::format("{} {}", calls, syscall));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// How many failures a test met.
std::size_t met(const faults::SweepState& state, const SweepTable& table) {
  const auto of = [&](Outcome outcome) { return table.counts[static_cast<std::size_t>(outcome)]; };
  return state.done.size() - of(Outcome::not_reached) - of(Outcome::not_run) - of(Outcome::skipped);
}

struct Share {
  std::size_t good = 0;  ///< Reported or survived.
  std::size_t met = 0;
};

/// The share for the failures in one part of the tests.
Share share_of(const faults::SweepState& state, faults::Part part) {
  Share share;
  for (const auto& [index, done] : state.done) {
    const Outcome outcome = done.result.outcome;
    if (done.failure.part != part || outcome == Outcome::not_reached || outcome == Outcome::not_run ||
        outcome == Outcome::skipped) {
      continue;
    }
    ++share.met;
    share.good += outcome == Outcome::survived || outcome == Outcome::reported ? 1 : 0;
  }
  return share;
}

}  // namespace

const std::string& site_of(const Done& done) {
  return done.result.hit.empty() ? done.failure.site : done.result.hit;
}

SweepTable table_of(const faults::SweepState& state) {
  SweepTable table;
  std::map<std::tuple<std::string, std::string, std::string>, SweptSite> sites;
  std::map<std::tuple<Outcome, std::string, std::string, std::string, std::string>, AlikeFailures> alike;
  for (const auto& [index, done] : state.done) {
    const auto outcome = static_cast<std::size_t>(done.result.outcome);
    const std::string& site = site_of(done);
    ++table.counts[outcome];
    if (!done.result.child.empty() && done.result.outcome != Outcome::crashed) ++table.child_crashes;
    SweptSite& one = sites[{site, done.failure.syscall, done.failure.error}];
    one.site = site;
    one.syscall = done.failure.syscall;
    one.error = done.failure.error;
    ++one.counts[outcome];
    ++one.failures;
    if (!faults::needs_a_look(done.result)) continue;
    // The things left open differ between runs; the signal and the exit code tell failures apart.
    const bool is_same_thing = done.result.outcome == Outcome::leaked || done.result.outcome == Outcome::reported;
    const std::string detail = is_same_thing ? "" : done.result.detail;
    AlikeFailures& same =
        alike[{done.result.outcome, detail + '/' + done.result.child, site, done.failure.syscall, done.failure.error}];
    same.outcome = done.result.outcome;
    same.detail = done.result.detail;
    same.child = done.result.child;
    same.site = site;
    same.syscall = done.failure.syscall;
    same.error = done.failure.error;
    same.all.push_back(&done);
  }
  for (auto& [key, one] : sites) table.sites.push_back(std::move(one));
  std::stable_sort(table.sites.begin(), table.sites.end(),
                   [](const SweptSite& a, const SweptSite& b) { return a.counts > b.counts; });
  for (auto& [key, one] : alike) table.alike.push_back(std::move(one));
  std::stable_sort(table.alike.begin(), table.alike.end(), [](const AlikeFailures& a, const AlikeFailures& b) {
    return a.outcome != b.outcome ? a.outcome < b.outcome : a.all.size() > b.all.size();
  });
  return table;
}

std::string sweep_title(const faults::SweepState& state, const SweepTable& table) {
  const auto swept = static_cast<std::size_t>(
      std::count_if(state.tests.begin(), state.tests.end(),
                    [](const faults::LearnedTest& test) { return test.why_left_out.empty(); }));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < faults::kOutcomes; ++i) {
    if (table.counts[i] > 0) parts.push_back(fmt::format("{} {}", table.counts[i], faults::kOutcomeWords[i]));
  }
  std::string title = fmt::format("{}, {}", how_many(swept, "test"), how_many(state.done.size(), "failure"));
  if (state.plan && state.done.size() < state.plan->failures) {
    title += fmt::format(" of {} that were planned", state.plan->failures);
  }
  return parts.empty() ? title : fmt::format("{}: {}", title, fmt::join(parts, ", "));
}

namespace {

std::string some_changes(const std::vector<std::string>& changes) {
  constexpr std::size_t kShown = 10;
  const auto end = changes.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, changes.size()));
  return csv::printable(fmt::format("{}", fmt::join(changes.begin(), end, ", "))) +
         (changes.size() > kShown ? fmt::format(" and {} more", changes.size() - kShown) : "");
}

}  // namespace

std::vector<std::string> sweep_remarks(const faults::SweepState& state, const SweepTable& table) {
  std::vector<std::string> lines;
  const auto of = [&](Outcome outcome) { return table.counts[static_cast<std::size_t>(outcome)]; };
  if (table.child_crashes > 0) {
    lines.push_back(fmt::format("in {} a child of the test crashed, and the test's own outcome is another one",
                                how_many(table.child_crashes, "failure")));
  }
  const std::size_t reached = met(state, table);
  if (reached > 0) {
    const std::size_t good = of(Outcome::survived) + of(Outcome::reported);
    std::string line = fmt::format("{} of {} failures that a test met were reported or survived ({:.0f} %)", good,
                                   reached, 100.0 * static_cast<double>(good) / static_cast<double>(reached));
    // A framework reports what fails in a fixture, whatever the code under test does.
    const Share in_fixtures = share_of(state, faults::Part::fixture);
    const Share in_bodies = share_of(state, faults::Part::body);
    if (in_fixtures.met > 0 && in_bodies.met > 0) {
      line += fmt::format(": {} of {} in the bodies of tests, {} of {} in what sets them up and tears them down",
                          in_bodies.good, in_bodies.met, in_fixtures.good, in_fixtures.met);
    }
    lines.push_back(std::move(line));
  }
  if (state.plan) {
    if (state.plan->left_out > 0)
      lines.push_back(fmt::format("{} left out (--sample)", how_many(state.plan->left_out, "failure")));
    if (state.plan->other_calls > 0) {
      lines.push_back(fmt::format("{} of later calls from the same sites left out (--every-call adds them)",
                                  how_many(state.plan->other_calls, "failure")));
    }
    if (!state.plan->not_in_list.empty()) {
      lines.push_back(fmt::format("not failed, because the table has no error for them (--errnos gives one): {}",
                                  not_in_list(*state.plan)));
    }
  }
  if (!state.harm.empty()) {
    lines.push_back("in your own folder, so that later runs may depend on earlier ones: " + some_changes(state.harm));
  }
  if (!state.changed_always.empty()) {
    lines.push_back("in your own folder, while no call failed: " + some_changes(state.changed_always));
  }
  std::map<std::string, std::vector<std::string>> reasons;
  for (const faults::LearnedTest& test : state.tests) {
    if (!test.why_left_out.empty()) reasons[test.why_left_out].push_back(test.name);
  }
  for (const auto& [reason, names] : reasons) {
    constexpr std::size_t kNamed = 5;
    const std::vector<std::string> some(names.begin(),
                                        names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, names.size())));
    lines.push_back(fmt::format("{} not swept: {}: {}{}", how_many(names.size(), "test"), csv::printable(reason),
                                csv::printable(fmt::format("{}", fmt::join(some, ", "))),
                                names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : ""));
  }
  return lines;
}

std::string why_untried(const faults::SweepState& state, const SweepTable& table) {
  if (!state.plan || state.done.size() < state.plan->failures || met(state, table) > 0) return {};
  const std::string nothing = "no call was failed in a test, so this sweep says nothing: ";
  if (state.plan->failures > 0) {
    for (const auto& [index, done] : state.done) {
      if (done.result.outcome == Outcome::not_run) return nothing + "runs could not be measured: " + done.result.detail;
    }
    return nothing + "no test made its call again (not reached)";
  }
  if (!state.plan->not_in_list.empty()) {
    return fmt::format(
        "{}the chosen calls have no error in the table, and only reads and writes can be SHORT: {}\n"
        "Name an error: --errnos EIO.",
        nothing, not_in_list(*state.plan));
  }
  return nothing +
         "no test makes a call of those that were chosen, or only calls that can lose nothing, such as a close of a "
         "file that was only read\nChoose other calls: --calls '*'.";
}

std::string outcome_text(const AlikeFailures& alike) {
  std::string word(faults::word_of(alike.outcome));
  if (!alike.child.empty()) {
    return fmt::format("{}, but a child of the test crashed: {}", word, alike.child);
  }
  if (alike.detail.empty()) return word;
  return alike.outcome == Outcome::crashed ? word + ' ' + alike.detail : fmt::format("{} ({})", word, alike.detail);
}

std::string again(const faults::SweepState& state, const Done& done) {
  const std::vector<std::string>& command = state.identity.command;
  std::string text = "SYSCOST_INJECT=" + shell_word(done.failure.rule()) + " bench run --backend dispatch --";
  for (const std::string& word : command) text += ' ' + shell_word(word);
  const std::string& test = state.tests[done.failure.test].name;
  return text + ' ' + shell_word(faults::selecting(state.framework, test));
}

}  // namespace syscost::bench::commands
