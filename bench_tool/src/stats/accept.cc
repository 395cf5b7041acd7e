// SPDX-License-Identifier: MIT
#include "stats/accept.h"

#include <fmt/format.h>

#include <algorithm>

#include "csv/printable.h"
#include "model/suggestion.h"
#include "stats/rules_of_test.h"

namespace syscost::bench::stats {
namespace {

bool is_of(const model::TestPatterns& tests, const Comparison& row) {
  return std::ranges::any_of(
      std::initializer_list<const WindowSummary*>{row.old_window, row.new_window},
      [&](const WindowSummary* window) { return window != nullptr && tests.matches(pattern_name(*window)); });
}

/// The line about patterns that no row matches.
std::string no_such_test(const std::string& name, const model::TestPatterns& tests,
                         const std::vector<Comparison>& rows) {
  std::vector<std::string> names;
  for (const Comparison& row : rows) names.push_back(row.name);
  return fmt::format("{} matched nothing: no test of these runs has this name{}", csv::printable(name),
                     model::or_rather(tests.patterns.front(), names));
}

/// Marks what the accept matches in the row. False: nothing.
bool mark(const Accept& accept, Comparison& row) {
  bool has_match = false;
  for (Delta& delta : row.deltas) {
    const bool is_change = delta.change == Change::grew || delta.change == Change::shrank;
    if (!delta.is_gated() || !is_change || !accept.changes.matches(delta, row)) continue;
    delta.is_accepted = has_match = true;
  }
  if (accept.changes.matches_leaks() && row.has_leak) row.accepts_leaks = has_match = true;
  return has_match;
}

/// Why an accept changed nothing, of the tests that it means.
std::string reason_of(const Accept& accept, const std::vector<const Comparison*>& rows) {
  const auto find = [&](auto is) {
    const auto found = std::ranges::find_if(rows, [&](const Comparison* row) { return is(*row); });
    return found == rows.end() ? nullptr : *found;
  };
  const auto is_red = [](const Comparison& row) {
    return row.verdict == Verdict::regressed || row.verdict == Verdict::in_doubt;
  };
  const std::string_view remove = accept.is_in_file ? ", remove it" : "";
  if (const Comparison* row = find([&](const Comparison& one) { return one.is_by_counts() && is_red(one); })) {
    return fmt::format("{} changed in another way", row->name);
  }
  if (const Comparison* row = find([](const Comparison& one) { return !one.is_by_counts(); })) {
    return fmt::format("{} is {}, which no accept hides", row->name, to_string(row->verdict));
  }
  if (const Comparison* row =
          find([](const Comparison& one) { return one.verdict != Verdict::same && one.verdict != Verdict::near; })) {
    return fmt::format("{} is {} without it{}", row->name, to_string(row->verdict), remove);
  }
  return fmt::format("the base has it{}", remove);
}

}  // namespace

std::string reason_text(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_blank = std::string_view(" \t\r\n").find(c) != std::string_view::npos;
    if (!is_blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return csv::printable(line);
}

void accept_changes(const std::vector<Accept>& accepts, std::vector<Comparison>& rows) {
  for (Comparison& row : rows) {
    if (accepts.empty() || !row.is_by_counts()) continue;
    for (const Accept& accept : accepts) {
      if (!is_of(accept.tests, row) || !mark(accept, row)) continue;
      row.acceptances.push_back({csv::printable(accept.where), accept.reason});
    }
    if (!row.acceptances.empty()) conclude(row);
  }
}

std::vector<std::string> unused_accepts(const std::vector<Accept>& accepts, const std::vector<Comparison>& rows,
                                        bool chosen) {
  std::vector<std::string> lines;
  for (const Accept& accept : accepts) {
    std::vector<const Comparison*> meant;
    bool is_used = false;
    for (const Comparison& row : rows) {
      if (!is_of(accept.tests, row)) continue;
      meant.push_back(&row);
      is_used = is_used || (row.needs_acceptance && std::ranges::any_of(row.acceptances, [&](const Acceptance& one) {
                              return one.where == csv::printable(accept.where);
                            }));
    }
    if (is_used || (chosen && meant.empty())) continue;
    const std::string what = accept.changes.is_any() ? "" : fmt::format(": {}", accept.changes.text());
    const std::string name = fmt::format("accept of {}{} ({})", accept.tests.text(), what, accept.where);
    lines.push_back(meant.empty()
                        ? no_such_test(name, accept.tests, rows)
                        : fmt::format("{} matched nothing: {}", csv::printable(name), reason_of(accept, meant)));
  }
  return lines;
}

std::vector<std::string> unused_rules(const std::vector<RuleOfTests>& rules, const std::vector<Comparison>& rows) {
  std::vector<std::string> lines;
  for (const RuleOfTests& rule : rules) {
    if (std::ranges::any_of(rows, [&](const Comparison& row) { return is_of(rule.tests, row); })) continue;
    lines.push_back(no_such_test(rule.name, rule.tests, rows));
  }
  return lines;
}

}  // namespace syscost::bench::stats
