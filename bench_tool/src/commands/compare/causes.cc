// SPDX-License-Identifier: MIT
#include "commands/compare/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "commands/compare/compare.h"
#include "commands/shared/gate.h"
#include "judge/direction.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using judge::Delta;
using stats::SiteChange;

constexpr std::size_t kMostTestsNamed = 3;

/// True for a line that changed as the whole count did.
bool makes(const SiteChange& site, const Delta& delta) {
  return !site.site.is_unknown() && site.kind != SiteChange::Kind::in_new && site.more() != 0 &&
         (site.more() > 0) == (delta.change == judge::Change::grew);
}

/// Visits the lines that make the changes that are meant. A failure is made by the call beside it.
template <class Visit>
void for_each_line(const Comparison& row, const ChangeChoice& is_meant, Visit visit) {
  if (row.is_plain || (row.verdict != judge::Verdict::regressed && row.verdict != judge::Verdict::improved)) return;
  for (const Delta& delta : row.deltas) {
    if (!delta.is_certain_change() || !delta.errno_name.empty() || !is_meant(delta)) continue;
    for (const SiteChange& site : delta.sites) {
      if (makes(site, delta)) visit(delta, site);
    }
  }
}

std::string counted_thing(const Delta& delta) {
  return delta.syscall + (delta.errno_name.empty() ? "" : " " + delta.errno_name) +
         (delta.is_per_run ? " (per run)" : "");
}

/// The change that all tests of a cause have in common where no line is known.
std::string shared_change(const Comparison& row, const cli::Gate& gate) {
  const std::vector<std::string_view> by = gate_failures(row, gate);
  if (!by.empty() && by.front() != "counts") return fmt::format("{}", fmt::join(by, ", "));
  std::vector<std::string> parts;
  for (const Delta& delta : row.deltas) {
    if (!delta.is_certain_change()) continue;
    parts.push_back(change_of(delta, delta.new_count.median - delta.old_count.median));
  }
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts, ", "));
  return row.reason.empty() ? std::string(judge::to_string(row.verdict)) : row.reason;
}

/// Names a line also after lines above its function moved.
std::string id_of(const model::Site& site) {
  if (!site.has_line()) return fitted_site(site, 0);
  return site.line_in_function ? fmt::format("{} {}+{}", site.file, site.function, *site.line_in_function)
                               : fmt::format("{}:{} {}", site.file, site.line, site.function);
}

/// Causes in the making, by what tells them apart.
struct Found {
  Cause cause;
  std::string count;
  double more = 0;
};

/// The failing cases of tests, by name.
std::map<std::string_view, render::CiCase*> failing_cases(render::CiReport& report) {
  std::map<std::string_view, render::CiCase*> cases;
  for (render::CiCase& one : report.cases) {
    if (!one.failures.empty()) cases.emplace(one.name, &one);
  }
  return cases;
}

void begin_with_causes(const std::vector<Cause>& causes, render::CiReport& report) {
  const auto cases = failing_cases(report);
  std::map<render::CiCase*, std::string> beginnings;
  for (const Cause& cause : causes) {
    // For one test without a line the message says the same.
    if (!cause.site && cause.tests.size() < 2) continue;
    for (const Comparison* test : cause.tests) {
      if (const auto found = cases.find(test->name); found != cases.end()) {
        beginnings[found->second] += cause.headline() + "; ";
      }
    }
  }
  for (const auto& [one, text] : beginnings) one->failures.front().text.insert(0, text);
}

/// The case of a cause, with those of its tests.
render::CiCase case_of(const Cause& cause, std::vector<render::CiCase> tests) {
  render::CiCase one;
  one.name = one.suite = one.test =
      cause.tests.size() == 1 ? tests.front().name : fmt::format("{} tests", tests.size());
  one.id = cause.id;
  one.location = tests.front().location;
  std::string text = cause.tests.size() == 1 ? cause.text() : cause.headline() + ": ";
  for (std::size_t i = 0; i < tests.size() && cause.tests.size() > 1; ++i) {
    if (i == kMostRowsWithCauses) {
      text += ", ...";
      break;
    }
    text += (i == 0 ? "" : ", ") + tests[i].name;
  }
  const render::CiFailure& first = tests.front().failures.front();
  one.failures.push_back({first.rule, std::move(text), cause.site ? line_here(*cause.site) : first.location});
  one.tests = std::move(tests);
  return one;
}

/// Puts a case for each cause in the place of what its tests fail by first. A cause of one test stays that test's,
/// unless `of_lines` and it has a line.
void fold_into_causes(const std::vector<Cause>& causes, bool of_lines, render::CiReport& report) {
  const auto failing = failing_cases(report);
  std::vector<render::CiCase> cases;
  std::set<render::CiCase*> folded;
  std::set<render::CiCase*> kept;  // a test with a change of its own, too
  for (const Cause& cause : causes) {
    const bool is_folded = cause.tests.size() > 1 || (of_lines && cause.site);
    std::vector<render::CiCase> tests;
    for (const Comparison* test : cause.tests) {
      const auto found = failing.find(test->name);
      if (found == failing.end()) continue;
      (is_folded ? folded : kept).insert(found->second);
      if (!is_folded) continue;
      tests.push_back(*found->second);
      tests.back().failures.resize(1);
    }
    if (!tests.empty()) cases.push_back(case_of(cause, std::move(tests)));
  }
  for (render::CiCase& one : report.cases) {
    if (folded.contains(&one) && !kept.contains(&one)) {
      one.failures.erase(one.failures.begin());
      if (one.failures.empty()) continue;
    }
    cases.push_back(std::move(one));
  }
  report.cases = std::move(cases);
}

}  // namespace

std::string Cause::headline(std::size_t width) const {
  return (site ? fitted_site(*site, width) + ": " + what : what) +
         (tests.size() > 1 ? fmt::format(" in {} tests", tests.size()) : "");
}

std::string Cause::text(std::size_t width) const {
  std::string out = headline(width);
  // A line says enough of where to look.
  if (site && tests.size() > 1) return out;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::min(tests.size(), kMostTestsNamed); ++i) names.push_back(tests[i]->name);
  out += fmt::format("{}{}{}", tests.size() == 1 ? " in " : ": ", fmt::join(names, ", "),
                     tests.size() > kMostTestsNamed ? ", ..." : "");
  return out;
}

bool is_costly(const Delta& delta) {
  return delta.change == judge::Change::grew || judge::family_of(delta.syscall) == judge::Family::syncs;
}

bool has_line(const Comparison& row, const ChangeChoice& is_meant) {
  bool has = false;
  for_each_line(row, is_meant, [&](const Delta&, const SiteChange&) { has = true; });
  return has;
}

std::vector<Cause> causes_of(const std::vector<const Comparison*>& failing, const cli::Gate& gate,
                             const ChangeChoice& is_meant) {
  std::map<std::string, Found> found;
  for (const Comparison* row : failing) {
    for_each_line(*row, is_meant, [&](const Delta& delta, const SiteChange& site) {
      Found& one = found[fmt::format("{}\t{}", fitted_site(site.site, 0), counted_thing(delta))];
      one.cause.site = site.site;
      one.cause.id = id_of(site.site) + ' ' + counted_thing(delta);
      one.count = counted_thing(delta);
      one.more += site.more();
      if (one.cause.tests.empty() || one.cause.tests.back() != row) one.cause.tests.push_back(row);
    });
    if (has_line(*row, is_meant)) continue;
    Found& one = found[shared_change(*row, gate)];
    one.cause.id = one.cause.what = shared_change(*row, gate);
    one.cause.tests.push_back(row);
  }
  std::vector<Cause> causes;
  for (auto& [key, one] : found) {
    if (one.cause.site) one.cause.what = fmt::format("{:+g} {}", one.more, one.count);
    causes.push_back(std::move(one.cause));
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.tests.size() > b.tests.size(); });
  return causes;
}

std::string causes_text(const std::vector<Cause>& causes, std::size_t width) {
  std::set<const Comparison*> tests;
  for (const Cause& cause : causes) tests.insert(cause.tests.begin(), cause.tests.end());
  if (causes.size() >= tests.size()) return {};
  constexpr std::size_t kMostCauses = 20;
  std::string out = fmt::format("causes: {}\n", causes.size());
  for (std::size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) {
    out += render::wrapped("  " + causes[i].text(), width, 4) + '\n';
  }
  if (causes.size() > kMostCauses) out += fmt::format("  {} more: --format json\n", causes.size() - kMostCauses);
  return out;
}

std::string causes_markdown(const std::vector<Cause>& causes) {
  std::string out;
  std::istringstream lines(causes_text(causes, 0));
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    out += "- " + render::escaped_markdown(line) + '\n';
  }
  return out.empty() ? out : out + '\n';
}

std::string report_by_cause(cli::Report format, render::CiReport report, const std::vector<Cause>& causes) {
  switch (format) {
    case cli::Report::junit:
      begin_with_causes(causes, report);
      return render::junit(report);
    case cli::Report::sarif:
      fold_into_causes(causes, true, report);
      return render::sarif(report);
    default:
      fold_into_causes(causes, false, report);
      return render::github_commands(report);
  }
}

}  // namespace syscost::bench::commands
