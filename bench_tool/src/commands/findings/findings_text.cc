// SPDX-License-Identifier: MIT
//
// findings for people: a block for each rule, the most expensive first, with its remedy said once.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "commands/findings/findings.h"
#include "findings/find.h"
#include "findings/rules.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using findings::AlikeFindings;
using findings::Finding;
using findings::Findings;
using findings::Rule;
using findings::RuleFindings;

constexpr std::size_t kFewBelow = 5;

std::string cost_text(const Finding& finding) {
  if (finding.cost_ns <= 0) return {};
  const std::string cost = render::duration(finding.cost_ns);
  return finding.evidence.find(cost) == std::string::npos ? " (" + cost + ")" : std::string();
}

/// `Log.WritesABatch: 1200 writes in a row ... (110 us), at src/log.cc:17 Log::batch; 3 more tests from this line`
std::string line_of(const AlikeFindings& alike) {
  const Finding& finding = *alike.worst;
  std::string line = finding.window + ": " + finding.evidence + cost_text(finding);
  if (!finding.site.empty()) line += ", at " + finding.site;
  const std::size_t others = alike.windows.size() - 1;
  if (others > 0) line += fmt::format("; also in {} other{}", others, others == 1 ? "" : "s");
  return line;
}

std::string plural(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// A title, at most kFewBelow findings, and how many more there are; empty if there is none.
std::vector<std::string> few_lines(const Findings& found) {
  std::vector<std::pair<const Rule*, AlikeFindings>> all;
  for (const RuleFindings& block : findings::by_rule(found.found)) {
    for (const AlikeFindings& one : block.parts) all.emplace_back(block.rule, one);
  }
  if (all.empty()) return {};
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.worst->cost_ns > b.second.worst->cost_ns; });
  std::vector<std::string> lines = {findings_title(found) + " (bench findings)"};
  for (std::size_t i = 0; i < std::min(all.size(), kFewBelow); ++i) {
    lines.push_back(fmt::format("{}: {}", all[i].first->name, line_of(all[i].second)));
  }
  if (all.size() > kFewBelow) lines.push_back(fmt::format("and {} more", all.size() - kFewBelow));
  return lines;
}

}  // namespace

std::string findings_title(const Findings& found) {
  std::set<std::string_view> windows;
  for (const Finding& one : found.found) windows.insert(one.window);
  std::string title = found.found.empty() ? "no findings" : plural(found.found.size(), "finding");
  title += found.found.empty() ? fmt::format(" in {}", plural(found.windows, "window"))
                               : fmt::format(" in {} of {}", windows.size(), plural(found.windows, "window"));
  if (const std::size_t notes = found.notes.size() + found.hidden_notes; notes > 0) {
    title += "; " + plural(notes, "note");
    if (found.hidden_notes > 0) title += fmt::format(" ({}--notes)", found.notes.empty() ? "" : "all with ");
  }
  if (found.traced > 0) title += fmt::format("; {} with a trace", found.traced);
  return title;
}

std::vector<std::string> not_checked_lines(const Findings& found) {
  std::vector<std::string> lines;
  std::map<std::string, std::size_t> places;
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const findings::NotChecked& one : found.not_checked) {
    std::string reason = one.reason;
    if (one.windows < found.windows) reason += fmt::format(", {} of {}", one.windows, plural(found.windows, "window"));
    const auto [place, is_new] = places.try_emplace(reason, reasons.size());
    if (is_new) reasons.emplace_back(reason, std::vector<std::string>());
    reasons[place->second].second.emplace_back(one.rule);
  }
  for (const auto& [reason, names] : reasons) {
    lines.push_back(fmt::format("not checked: {}: {}", fmt::join(names, ", "), reason));
  }
  return lines;
}

namespace {

/// So many lines of the program are printed without --top, and as many of notes.
constexpr std::size_t kNamedFindings = 20;

/// The blocks to print, and how many parts of them are left out.
struct Chosen {
  std::vector<RuleFindings> blocks;
  std::size_t left_out = 0;
};

Chosen chosen_of(const std::vector<Finding>& list, const cli::Options& options) {
  Chosen chosen{findings::by_rule(list)};
  chosen.left_out = findings::keep_dearest(chosen.blocks, options.top.value_or(kNamedFindings));
  return chosen;
}

std::string blocks_text(const std::vector<Finding>& list, const cli::Options& options, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  const Chosen chosen = chosen_of(list, options);
  std::string out;
  for (const RuleFindings& block : chosen.blocks) {
    out += '\n' + paint.bold(fmt::format("{}: {}", block.rule->name, block.rule->title)) + '\n';
    for (const AlikeFindings& one : block.parts) out += render::wrapped("  " + line_of(one) + '\n', width, 4);
    out += render::wrapped(fmt::format("  -> {}\n", block.rule->remedy), width, 5);
  }
  if (chosen.left_out > 0) out += fmt::format("\nand {} more (--top 0)\n", chosen.left_out);
  return out;
}

std::string blocks_markdown(const std::vector<Finding>& list, const cli::Options& options) {
  const Chosen chosen = chosen_of(list, options);
  std::string out;
  for (const RuleFindings& block : chosen.blocks) {
    out += fmt::format("\n### {}: {}\n\n{}\n\n", block.rule->name, block.rule->title, block.rule->remedy);
    for (const AlikeFindings& one : block.parts) {
      out += "- " + render::code_span(one.worst->window) +
             render::escaped_markdown(line_of(one).substr(one.worst->window.size())) + '\n';
    }
  }
  if (chosen.left_out > 0) out += fmt::format("\nand {} more\n", chosen.left_out);
  return out;
}

constexpr std::string_view kNotes = "Notes: costs that may be on purpose";

}  // namespace

std::string findings_text(const FoundRun& run, const cli::Options& options, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  std::string out = render::wrapped(run.source + '\n', width, 2);
  out += findings_title(run.found) + '\n';
  out += blocks_text(run.found.found, options, paint);
  if (const std::string notes = blocks_text(run.found.notes, options, paint); !notes.empty()) {
    out += '\n' + paint.bold(std::string(kNotes)) + '\n' + notes;
  }
  const std::vector<std::string> lines = not_checked_lines(run.found);
  if (!lines.empty()) out += '\n';
  for (const std::string& line : lines) out += render::wrapped(line + '\n', width, 2);
  return out;
}

std::string findings_markdown(const FoundRun& run, const cli::Options& options) {
  std::string out = render::escaped_lines(run.source + '\n') + '\n';
  out += "**" + findings_title(run.found) + "**\n";
  out += blocks_markdown(run.found.found, options);
  if (const std::string notes = blocks_markdown(run.found.notes, options); !notes.empty()) {
    out += fmt::format("\n**{}**\n{}", kNotes, notes);
  }
  const std::vector<std::string> lines = not_checked_lines(run.found);
  if (!lines.empty()) out += '\n';
  for (const std::string& line : lines) out += "- " + render::escaped_markdown(line) + '\n';
  return out;
}

std::string rules_text(const cli::Options& options) {
  const std::size_t width = options.screen.width;
  std::string out;
  for (const Rule& rule : findings::rules()) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}: {}\n", rule.name, rule.title);
    out += render::wrapped(fmt::format("  needs {}\n", findings::text_of(rule.needs)), width, 4);
    out += render::wrapped(fmt::format("  {}\n", rule.definition), width, 4);
    if (!rule.in_a_trace.empty()) {
      out += render::wrapped(fmt::format("  With a trace: {}\n", rule.in_a_trace), width, 4);
    }
    if (!rule.note.empty()) out += render::wrapped(fmt::format("  A note: {}\n", rule.note), width, 4);
    out += render::wrapped(fmt::format("  -> {}\n", rule.remedy), width, 5);
  }
  return out;
}

std::string findings_below(const Findings& found, const render::Paint& paint, std::size_t width) {
  std::string out;
  for (const std::string& line : few_lines(found)) {
    const bool is_title = out.empty();
    out += is_title ? '\n' + paint.bold(line) + '\n' : render::wrapped("  " + line + '\n', width, 4);
  }
  return out;
}

std::string findings_below_markdown(const Findings& found) {
  std::string out;
  for (const std::string& line : few_lines(found)) {
    out += out.empty() ? "\n**" + line + "**\n\n" : "- " + render::escaped_markdown(line) + '\n';
  }
  return out;
}

}  // namespace syscost::bench::commands
