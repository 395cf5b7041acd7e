// SPDX-License-Identifier: MIT
#include "judge/accept.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "csv/text.h"
#include "judge/count_policy.h"
#include "model/choice.h"

namespace syscost::bench::judge {
namespace {

constexpr std::string_view kArrow = " -> ";
constexpr std::string_view kPerRunMark = "(per run)";
constexpr std::string_view kNewInMark = "(new in ";
/// bench prints three decimals of figures per iteration.
constexpr double kPrinted = 0.0005;

std::optional<double> amount_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool is_errno(std::string_view word) {
  return word.size() > 1 && word.front() == 'E' &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

bool is_of_family(const Delta& delta, Family family) {
  return family_of(delta.syscall) == family;
}

double syncs_of(const stats::WindowSummary& window) {
  double sum = 0;
  for (const stats::SyscallSummary* one : window.compared()) {
    if (family_of(one->name) == Family::syncs && one->count()) sum += one->count()->median;
  }
  return sum;
}

/// `write` is a name, `wirte` none. Returns what is wrong, or "".
std::string syscall_fault(std::string_view name) {
  if (name == model::kSyncOpens) return {};
  std::string fault;
  const auto choice = model::SyscallChoice::parse(name, fault);
  return choice ? choice->unknown_name() : fault;
}

std::string known_words() {
  return fmt::format(
      "; WHAT is what compare prints (+1 openat), syscalls (write, %file), errnos (ENOENT), or one of: "
      "fewer syncs, more syncs, leaks, {}",
      fmt::join(family_names(), ", "));
}

/// Where the first term of `text` ends: a comma inside a regular expression does not end it.
std::size_t term_end(std::string_view text) {
  std::size_t at = std::min(text.find_first_not_of(" \t!"), text.size());
  if (at < text.size() && text[at] == '/') {
    for (++at; at < text.size() && text[at] != '/'; ++at) {
      if (text[at] == '\\') ++at;
    }
  }
  return text.find_first_of(",;", std::min(at, text.size()));
}

}  // namespace

bool ChangeChoice::Amount::matches(const Delta& delta) const {
  if (delta.errno_name != errno_name || delta.is_per_run != is_per_run) return false;
  if (!syscall.empty() && delta.syscall != syscall) return false;
  if ((delta.change == Change::grew) != is_more) return false;
  const double change = is_more ? delta.new_count.max - delta.old_count.min : delta.old_count.max - delta.new_count.min;
  const bool is_whole = most == std::floor(most);
  return change <= most + (is_whole ? 0 : kPrinted);
}

bool ChangeChoice::Syncs::matches(const Comparison& row) const {
  const double before = syncs_of(*row.old_window);
  const double after = syncs_of(*row.new_window);
  if (counts && *counts != std::pair(before, after)) return false;
  return is_fewer ? after < before : after > before;
}

bool ChangeChoice::matches(const Delta& delta, const Comparison& row) const {
  if (is_any()) return true;
  const auto any = [](const auto& list, auto is) { return std::any_of(list.begin(), list.end(), is); };
  if (any(amounts_, [&](const Amount& one) { return one.matches(delta); })) return true;
  if (any(errnos_, [&](const std::string& name) { return delta.errno_name == name; })) return true;
  if (any(families_, [&](Family family) { return is_of_family(delta, family); })) return true;
  if (is_of_family(delta, Family::syncs) && any(syncs_, [&](const Syncs& one) { return one.matches(row); })) {
    return true;
  }
  if (has_sync_opens_ && delta.syscall == model::kSyncOpens) return true;
  if (!syscalls_) return false;
  const std::size_t space = delta.syscall.find(' ');
  const std::string detail = space == std::string::npos ? "" : delta.syscall.substr(space + 1);
  std::string_view classes;
  for (const stats::WindowSummary* window : {row.old_window, row.new_window}) {
    if (const stats::SyscallSummary* one = window->find(delta.syscall)) classes = one->classes;
  }
  return syscalls_->matches(delta.syscall.substr(0, space), detail, classes);
}

/// `+1 EACCES (new in openat)`
std::string ChangeChoice::read_amount(std::string_view term) {
  Amount amount;
  amount.is_more = term.front() == '+';
  const std::string_view rest = term.substr(1);
  const std::size_t blank = std::min(rest.find(' '), rest.size());
  const std::optional<double> number = amount_in(rest.substr(0, blank));
  std::string_view name = csv::trimmed(rest.substr(blank));
  if (!number || *number <= 0 || name.empty())
    return fmt::format("{}: a number and a syscall or errno: +1 openat", term);
  amount.most = *number;
  if (name.ends_with(kPerRunMark)) {
    amount.is_per_run = true;
    name = csv::trimmed(name.substr(0, name.size() - kPerRunMark.size()));
  }
  if (const std::size_t begin = name.find(kNewInMark); begin != std::string_view::npos && name.ends_with(')')) {
    amount.syscall = name.substr(begin + kNewInMark.size(), name.size() - 1 - begin - kNewInMark.size());
    name = csv::trimmed(name.substr(0, begin));
  }
  (is_errno(name) ? amount.errno_name : amount.syscall) = name;
  if (!amount.syscall.empty()) {
    if (std::string_view("%/!*").find(amount.syscall.front()) != std::string_view::npos) {
      return fmt::format("{}: a number is of one syscall or errno; leave it out: {}", term, amount.syscall);
    }
    if (std::string fault = syscall_fault(amount.syscall); !fault.empty()) return fault;
  }
  amounts_.push_back(std::move(amount));
  return {};
}

/// `fewer syncs: 8 -> 1`
std::string ChangeChoice::read_syncs(std::string_view term) {
  Syncs syncs;
  syncs.is_fewer = term.starts_with('f');
  term.remove_prefix(std::string_view("fewer syncs").size() - (syncs.is_fewer ? 0 : 1));
  if (!term.empty()) {
    const std::string_view counts = term.starts_with(':') ? csv::trimmed(term.substr(1)) : "";
    const std::size_t arrow = std::min(counts.find(kArrow), counts.size());
    const auto before = amount_in(counts.substr(0, arrow));
    const auto after =
        arrow == counts.size() ? std::nullopt : amount_in(csv::trimmed(counts.substr(arrow + kArrow.size())));
    if (!before || !after) return fmt::format("syncs{}: write the counts as bench does: fewer syncs: 8 -> 1", term);
    syncs.counts = {*before, *after};
  }
  syncs_.push_back(syncs);
  return {};
}

std::string ChangeChoice::read_term(std::string_view term, std::string& selectors) {
  if (term.empty()) return "a term is empty";
  if (term.front() == '+' || term.front() == '-') return read_amount(term);
  if (term.starts_with("fewer syncs") || term.starts_with("more syncs")) return read_syncs(term);
  if (term == "leaks") {
    has_leaks_ = true;
  } else if (const auto family = family_named(term)) {
    families_.push_back(*family);
  } else if (term == model::kSyncOpens) {
    has_sync_opens_ = true;
  } else if (is_errno(term)) {
    errnos_.emplace_back(term);
  } else if (const std::size_t arrow = term.find(kArrow); arrow != std::string_view::npos && term.front() != '/') {
    return fmt::format("{}: write the name without counts: {}", term, term.substr(0, term.find(' ')));
  } else {
    selectors += (selectors.empty() ? "" : ",") + std::string(term);
  }
  return {};
}

std::string ChangeChoice::read(std::string_view text) {
  *this = {};
  text_ = csv::trimmed(text);
  if (text_.empty()) return "it is empty; leave it out for any change";
  std::string selectors;
  for (std::string_view rest = text_;;) {
    const std::size_t end = std::min(term_end(rest), rest.size());
    if (std::string fault = read_term(csv::trimmed(rest.substr(0, end)), selectors); !fault.empty())
      return fault + known_words();
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (selectors.empty()) return {};
  std::string fault;
  syscalls_ = model::SyscallChoice::parse(selectors, fault);
  if (fault.empty()) fault = syscalls_->unknown_name();
  return fault.empty() ? "" : fault + known_words();
}

namespace {

bool is_of(const model::TestPatterns& tests, const Comparison& row) {
  return std::ranges::any_of(
      std::initializer_list<const stats::WindowSummary*>{row.old_window, row.new_window},
      [&](const stats::WindowSummary* window) { return window != nullptr && tests.matches(pattern_name(*window)); });
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

}  // namespace syscost::bench::judge
