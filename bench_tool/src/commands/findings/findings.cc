// SPDX-License-Identifier: MIT
#include "commands/findings/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "commands/shared/artifacts.h"
#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/shared/run_notes.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "findings/find.h"
#include "findings/rules.h"
#include "model/choice.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "model/test_locations.h"
#include "render/table.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {
namespace {

using findings::Finding;
using model::Group;

/// The first name that is no rule's, with the names that are; "" if all are.
std::string unknown_rule(const std::vector<std::string>& names, bool takes_any) {
  std::vector<std::string> known;
  for (const findings::Rule& rule : findings::rules()) known.emplace_back(rule.name);
  if (takes_any) known.emplace_back("any");
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fmt::format("bench: there is no rule \"{}\"{}\nThere are {}.\n", csv::printable(name),
                       model::or_rather(name, known), fmt::join(known, ", "));
  }
  return {};
}

/// The groups that TEST means, with the loops of each; all if it is empty.
std::vector<std::size_t> chosen_groups(const model::Dataset& data, const std::vector<Group>& groups,
                                       const std::string& asked) {
  std::vector<std::size_t> chosen;
  if (asked.empty()) {
    for (std::size_t i = 0; i < groups.size(); ++i) chosen.push_back(i);
    return chosen;
  }
  for (const Group* one : find_test(data, groups, asked)) {
    const auto index = static_cast<std::size_t>(one - groups.data());
    chosen.push_back(index);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].owner == index) chosen.push_back(i);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

bool is_named(const std::vector<std::string>& rules, const Finding& one) {
  return std::find(rules.begin(), rules.end(), one.rule) != rules.end();
}

/// Notes are for those who ask for them, or for their rule.
void hide_notes(const cli::Options& options, findings::Findings& found) {
  if (options.findings.has_notes) return;
  found.hidden_notes =
      std::erase_if(found.notes, [&](const Finding& one) { return !is_named(options.findings.fail_on, one); });
}

bool fails(const cli::Options& options, const findings::Findings& found) {
  const std::vector<std::string>& on = options.findings.fail_on;
  const auto counts = [&](const Finding& one) { return is_named(on, one); };
  if (std::any_of(found.notes.begin(), found.notes.end(), counts)) return true;
  const bool on_any = std::find(on.begin(), on.end(), "any") != on.end();
  return on_any ? !found.found.empty() : std::any_of(found.found.begin(), found.found.end(), counts);
}

/// The first rule of --fail-on that was checked nowhere, or not in a window of which calls are unknown, as a message;
/// "" if there is none. `any`: of all rules, for such windows.
std::string unchecked_rule(const cli::Options& options, const findings::Findings& found) {
  if (!options.findings.fail_on.empty() && found.windows == 0) return "bench: --fail-on: no window was checked\n";
  std::map<std::string_view, std::size_t> windows;
  for (const findings::NotChecked& one : found.not_checked) windows[one.rule] += one.windows;
  for (const std::string& name : options.findings.fail_on) {
    for (const findings::NotChecked& one : found.not_checked) {
      const bool is_nowhere = name == one.rule && windows[one.rule] >= found.windows;
      if (!is_nowhere && !(one.is_of_window && (name == "any" || name == one.rule))) continue;
      const std::size_t unchecked = is_nowhere ? found.windows : one.windows;
      return fmt::format("bench: --fail-on {}: {} was not checked in {} of {} windows: {}\n", name, one.rule, unchecked,
                         found.windows, one.reason);
    }
  }
  return {};
}

}  // namespace

int findings_command(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  if (options.findings.lists_rules) {
    out << rules_text(options);
    return cli::kExitOk;
  }
  for (const bool fail_on : {false, true}) {
    const std::string fault = unknown_rule(fail_on ? options.findings.fail_on : options.findings.ignored, fail_on);
    if (fault.empty()) continue;
    err << fault;
    return cli::kExitBadInput;
  }
  for (const std::string& rule : options.findings.fail_on) {
    const std::vector<std::string>& ignored = options.findings.ignored;
    if (std::find(ignored.begin(), ignored.end(), rule) == ignored.end()) continue;
    err << fmt::format("bench: --fail-on {} and --ignore {} contradict each other\n", rule, rule);
    return cli::kExitBadInput;
  }
  model::TestLocations locations;
  for (const std::string& path : options.locations) {
    if (const std::string fault = locations.load(path); !fault.empty()) {
      err << "bench: " << csv::printable(fault) << '\n';
      return cli::kExitBadInput;
    }
  }
  csv::Problems problems;
  FoundRun run;
  NamedTest named;
  model::LoadOptions load = load_options_of(options);
  load.keep_sites = true;
  named.data = model::load(options.runs.front(), load, problems);
  named.groups = model::group_samples(named.data, model::Tools::left_out);
  const auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  if (named.groups.empty()) {
    note_no_test(named.data, model::TestChoice(options.tests), problems);
    return fail();
  }
  const std::vector<std::size_t> chosen = chosen_groups(named.data, named.groups, options.test);
  if (chosen.empty()) {
    print_candidates(named, {}, options.test, "findings", err);
    return fail();
  }
  findings::FindOptions find_options;
  find_options.ignored.insert(options.findings.ignored.begin(), options.findings.ignored.end());
  findings::Finder finder(named.data, named.groups, std::move(find_options));
  WindowTraces traces(named.data, problems, options.findings.artifacts);
  std::vector<Group> groups;
  for (const std::size_t index : chosen) groups.push_back(named.groups[index]);
  stats::for_each_summary(named.data, groups, false, [&](std::size_t i, stats::WindowSummary&& window) {
    std::optional<trace::TraceFile> trace;
    if (finder.looks_at(window) && window.loop.empty()) trace = traces.of(groups[i]);
    finder.add(chosen[i], window, trace ? &*trace : nullptr);
  });
  run.found = finder.take();
  hide_notes(options, run.found);
  run.source = run_line(named.data);
  run.data = std::move(named.data);
  if (options.report == cli::Report::sarif) {
    out << render::sarif(findings_ci(run, locations));
  } else if (options.report == cli::Report::github) {
    render::CiReport report = findings_ci(run, locations);
    // A check that was not made is no warning of a line.
    for (const std::string& line : std::exchange(report.warnings, {})) report.totals += "; " + line;
    out << render::github_commands(report);
  } else {
    out << rendered(
        {.json = [&] { return findings_json(run); },
         .csv = [&] { return findings_csv(run); },
         .markdown =
             [&] { return render::capped_markdown(findings_markdown(run, options), most_bytes(options, kStepBytes)); },
         .text = [&] { return findings_text(run, options, paint); }},
        options);
  }
  problems.print(err);
  if (!problems.empty()) return cli::kExitBadInput;
  const std::vector<std::string> crashes = crash_lines(run.data);
  for (const std::string& line : crashes) err << "bench: " << csv::printable(line) << '\n';
  if (fails(options, run.found)) return cli::kExitRegression;
  const std::string unchecked = unchecked_rule(options, run.found);
  err << unchecked;
  const bool is_whole = unchecked.empty() && (crashes.empty() || options.findings.fail_on.empty());
  return is_whole ? cli::kExitOk : cli::kExitNoVerdict;
}

}  // namespace syscost::bench::commands
