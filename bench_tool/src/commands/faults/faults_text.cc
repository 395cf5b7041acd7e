// SPDX-License-Identifier: MIT
//
// A sweep for people: failures that need a look, then a line for each call site.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "commands/faults/faults.h"
#include "commands/shared/site_text.h"
#include "csv/text.h"
#include "model/site.h"
#include "render/table.h"
#include "render/terminal.h"
#include "syscost/call_errors.h"

namespace syscost::bench::commands {
namespace {

using faults::Outcome;
using render::Align;

constexpr std::size_t kNamedFailures = 20;

std::string command_line(const faults::SweepState& state) {
  std::string text = "bench faults:";
  for (const std::string& word : state.identity.command) text += ' ' + word;
  return csv::printable(text);
}

/// `crashed SIGSEGV: openat fails with EMFILE at src/store.cc:17 Store::load; in Store.Loads and 3 more tests`
std::string line_of(const faults::SweepState& state, const AlikeFailures& alike) {
  std::set<std::size_t> tests;
  for (const faults::Done* done : alike.all) tests.insert(done->failure.test);
  const faults::Done& first = *alike.all.front();
  std::string text = outcome_text(alike) + ": " + faults::failure_text(alike.syscall, alike.error);
  if (!alike.site.empty()) text += " at " + alike.site;
  if (alike.site.empty()) text += fmt::format(", call {}", first.failure.nth);
  text += "; in " + state.tests[first.failure.test].name;
  if (tests.size() > 1) text += fmt::format(" and {} more test{}", tests.size() - 1, tests.size() == 2 ? "" : "s");
  return csv::printable(text);
}

/// Outcomes that a failure of this sweep has.
std::vector<std::size_t> used_outcomes(const SweepTable& table) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < faults::kOutcomes; ++i) {
    if (table.counts[i] > 0) used.push_back(i);
  }
  return used;
}

/// The columns that are left for call sites in lines of `width` columns; 0: any.
std::size_t room_for_sites(const SweepTable& table, const std::vector<std::size_t>& used, std::size_t width) {
  if (width == 0) return 0;
  std::size_t call = std::string_view("call").size();
  std::size_t error = std::string_view("errno").size();
  for (const SweptSite& one : table.sites) {
    call = std::max(call, one.syscall.size());
    error = std::max(error, one.error.size());
  }
  std::size_t others = call + 1 + error + 1;
  for (const std::size_t i : used) others += faults::kOutcomeWords[i].size() + 1;
  return std::max<std::size_t>(width - std::min(width, others), 1);
}

/// If a line may have `width` columns only, a site gives up its folders first, then a part of its function, and its
/// file and line never.
render::Table site_table(const SweepTable& table, std::size_t width = 0) {
  const std::vector<std::size_t> used = used_outcomes(table);
  const std::size_t room = room_for_sites(table, used, width);
  std::vector<render::TableColumn> columns;
  for (const std::size_t i : used) columns.push_back({std::string(faults::kOutcomeWords[i]), Align::right});
  columns.push_back({"call"});
  columns.push_back({"errno"});
  columns.push_back({"call site", Align::left, render::Cells::names});
  render::Table sites(std::move(columns));
  for (const SweptSite& one : table.sites) {
    std::vector<std::string> cells;
    for (const std::size_t i : used) cells.push_back(one.counts[i] == 0 ? "" : fmt::format("{}", one.counts[i]));
    cells.push_back(one.syscall);
    cells.push_back(one.error);
    const std::string site = one.site.empty() ? "unknown" : csv::printable(one.site);
    const bool is_wide = room != 0 && render::display_width(site) > room;
    cells.push_back(is_wide ? fitted_site(model::parse_site("at " + site), room) : site);
    sites.add_row(std::move(cells));
  }
  return sites;
}

render::Table test_table(const faults::SweepState& state, const SweepTable& table) {
  const std::vector<std::size_t> used = used_outcomes(table);
  std::vector<render::TableColumn> columns;
  for (const std::size_t i : used) columns.push_back({std::string(faults::kOutcomeWords[i]), Align::right});
  columns.push_back({"test", Align::left, render::Cells::names, render::Shrinks::in_the_middle});
  std::vector<OutcomeCounts> counts(state.tests.size());
  for (const auto& [index, done] : state.done) {
    ++counts[done.failure.test][static_cast<std::size_t>(done.result.outcome)];
  }
  std::vector<std::size_t> order;
  for (std::size_t test = 0; test < counts.size(); ++test) {
    if (counts[test] != OutcomeCounts{}) order.push_back(test);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  render::Table tests(std::move(columns));
  for (const std::size_t test : order) {
    std::vector<std::string> cells;
    for (const std::size_t i : used) cells.push_back(counts[test][i] == 0 ? "" : fmt::format("{}", counts[test][i]));
    cells.push_back(csv::printable(state.tests[test].name));
    tests.add_row(std::move(cells));
  }
  return tests;
}

std::size_t named(const SweepTable& table, const cli::Options& options) {
  const std::size_t most = options.top.value_or(kNamedFailures);
  return most == 0 ? table.alike.size() : std::min(most, table.alike.size());
}

}  // namespace

std::string sweep_text(const faults::SweepState& state, const cli::Options& options, const render::Paint& paint) {
  const SweepTable table = table_of(state);
  const std::size_t width = options.screen.width;
  std::string out = render::wrapped(command_line(state) + '\n', width, 2);
  out += paint.bold(sweep_title(state, table)) + '\n';
  for (const std::string& line : sweep_remarks(state, table)) out += render::wrapped(line + '\n', width, 2);
  const std::size_t shown = named(table, options);
  if (shown > 0) out += '\n' + paint.bold("To look at, the worst first:") + '\n';
  for (std::size_t i = 0; i < shown; ++i) {
    const AlikeFailures& alike = table.alike[i];
    const std::string line = render::wrapped("  " + line_of(state, alike) + '\n', width, 4);
    out += alike.outcome <= Outcome::hung ? paint.red(line) : line;
    out += "    " + csv::printable(again(state, *alike.all.front())) + '\n';
  }
  if (shown < table.alike.size()) out += fmt::format("  and {} more (--top 0)\n", table.alike.size() - shown);
  if (state.done.empty()) return out;
  out += '\n' + site_table(table, width).text(2, 2, width);
  out += '\n' + test_table(state, table).text(2, 2, width);
  return out;
}

std::string sweep_markdown(const faults::SweepState& state, const cli::Options& options) {
  const SweepTable table = table_of(state);
  std::string out = "**" + render::escaped_markdown(sweep_title(state, table)) + "**\n\n";
  out += "- " + render::escaped_markdown(command_line(state)) + '\n';
  for (const std::string& line : sweep_remarks(state, table)) out += "- " + render::escaped_markdown(line) + '\n';
  const std::size_t shown = named(table, options);
  if (shown > 0) out += "\n### To look at, the worst first\n\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const AlikeFailures& alike = table.alike[i];
    out += "- " + render::escaped_markdown(line_of(state, alike)) + ": " +
           render::code_span(csv::printable(again(state, *alike.all.front()))) + '\n';
  }
  if (shown < table.alike.size()) out += fmt::format("- and {} more\n", table.alike.size() - shown);
  if (!state.done.empty()) out += '\n' + site_table(table).markdown() + '\n' + test_table(state, table).markdown();
  return out;
}

std::string call_errors_text() {
  render::Table table({{"call"}, {"errno"}, {"if it is ignored"}, {"why it is in the list"}});
  for (const CallError& one : kCallErrors) {
    table.add_row({std::string(one.syscall), std::string(one.name),
                   one.if_ignored == IfIgnored::loss ? "data may be lost" : "", std::string(one.reason)});
  }
  return table.text() + fmt::format("\nWithout --calls: {}\n", kSweptCalls);
}

}  // namespace syscost::bench::commands
