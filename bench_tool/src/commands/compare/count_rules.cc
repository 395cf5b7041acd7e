// SPDX-License-Identifier: MIT
#include "commands/compare/count_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/options.h"
#include "commands/compare/compare.h"
#include "csv/input.h"
#include "csv/text.h"
#include "judge/count_policy.h"
#include "judge/direction.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

/// `read=5%, write=3 in Net.*`
std::string rules_text(const std::vector<budgets::CountRule>& rules) {
  std::string text;
  for (const budgets::CountRule& rule : rules) {
    text += (text.empty() ? "" : ", ") + rule.text;
    if (rule.tests) text += " in " + rule.tests->text();
  }
  return text;
}

}  // namespace

ProjectRules add_rules_of_file(const std::string& asked, judge::CountPolicy& policy, csv::Problems& problems,
                               bool has_accepts) {
  const std::string name = asked.empty() ? cli::kBudgetsFile : asked;
  if (asked.empty() && !csv::is_own_file_there(name, problems)) return {};
  budgets::RulesFile file = budgets::read_rules(name, problems);
  if (!has_accepts) file.accepts.clear();
  judge::CountPolicy rules;
  for (const budgets::CountRule& rule : file.volatiles) {
    // An empty selector means every syscall, so that nothing would be gated.
    const std::optional<std::string> fault =
        rule.text.empty() ? "a selector is empty; * means every syscall" : rules.add_volatile(rule.text, rule.tests);
    if (fault) problems.add(name, rule.line, "volatile: " + *fault);
  }
  for (const budgets::CountRule& rule : file.tolerances) {
    if (const auto fault = rules.add_tolerance(rule.text, rule.tests)) {
      problems.add(name, rule.line, "tolerate: " + *fault);
    }
  }
  policy.put_before(rules);
  std::string said;
  if (!file.volatiles.empty()) said = "volatile " + rules_text(file.volatiles);
  if (!file.tolerances.empty()) said += (said.empty() ? "tolerate " : "; tolerate ") + rules_text(file.tolerances);
  if (file.gates_waits) {
    policy.gate_waits();
    said += said.empty() ? "gate-waits" : "; gate-waits";
  }
  const bool has_rules = !said.empty();
  if (const std::size_t accepts = file.accepts.size(); accepts > 0) {
    said += fmt::format("{}accept of {} change{}", said.empty() ? "" : "; ", accepts, accepts == 1 ? "" : "s");
  }
  ProjectRules out{std::move(file.budgets), std::move(file.accepts), {}, has_rules, {}};
  for (const auto& [word, entries] :
       {std::pair("volatile", &file.volatiles), std::pair("tolerate", &file.tolerances)}) {
    for (const budgets::CountRule& rule : *entries) {
      if (!rule.tests) continue;
      out.rules_of_tests.push_back(
          {fmt::format("{} {} ({}:{})", word, rules_text({rule}), name, rule.line), *rule.tests});
    }
  }
  if (out.has_rules || !asked.empty()) {
    out.line = csv::printable(fmt::format("rules of {}: {}", name, said.empty() ? "none" : said));
  }
  return out;
}

std::vector<judge::Accept> accepts_of(std::vector<judge::Accept> of_file, const cli::Options& options,
                                      csv::Problems& problems) {
  if (!options.accept_from.empty()) {
    for (judge::Accept& one : read_accept_lines(options.accept_from, problems)) of_file.push_back(std::move(one));
  }
  return of_file;
}

std::string add_rules(cli::Options& options, csv::Problems& problems) {
  ProjectRules rules = add_rules_of_file(options.config, options.counts, problems);
  options.accepts = accepts_of(std::move(rules.accepts), options, problems);
  options.rules_of_tests = std::move(rules.rules_of_tests);
  return std::move(rules.line);
}

namespace {

constexpr std::string_view kToken = "Syscost-Accept";
constexpr std::string_view kBeforeReason = " -- ";
constexpr std::string_view kBeforeChanges = ": ";
constexpr std::string_view kGrammar = "Syscost-Accept: TEST[: WHAT] -- REASON";

/// The letters alone, as small ones.
std::string letters_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

enum class Kind { other, accept, misspelled };

/// The kind of a line, by its text before the colon.
Kind kind_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return Kind::other;
  const std::string_view token = csv::trimmed(line.substr(0, colon));
  const bool is_it = std::equal(token.begin(), token.end(), kToken.begin(), kToken.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  });
  if (is_it) return Kind::accept;
  constexpr std::size_t kMoreLetters = 3;
  const bool is_like_it = token.size() <= kToken.size() + kMoreLetters && letters_of(token).starts_with("syscostac");
  return is_like_it ? Kind::misspelled : Kind::other;
}

/// `text` follows the token. Returns what is wrong with it, or "".
std::string read_line(std::string_view text, judge::Accept& accept) {
  std::string_view pattern;
  std::string_view rest = text;
  if (text.starts_with('"')) {
    const std::size_t end = text.find('"', 1);
    if (end == std::string_view::npos) return "the quotes of TEST do not end";
    pattern = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  }
  // With a blank at both ends, because TEST or REASON may be missing.
  const std::string padded = ' ' + std::string(rest) + ' ';
  const std::size_t dashes = padded.find(kBeforeReason);
  if (dashes == std::string::npos) return "the reason is missing";
  accept.reason = judge::reason_text(std::string_view(padded).substr(dashes + kBeforeReason.size()));
  if (accept.reason.empty()) return "the reason is empty";
  rest = std::string_view(padded).substr(0, dashes);
  if (!text.starts_with('"')) {
    const std::size_t colon = (std::string(rest) + ' ').find(kBeforeChanges);
    pattern = csv::trimmed(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon);
  }
  if (pattern.empty()) return "the test is missing: a name, or a pattern with * and ?";
  accept.tests.patterns = {std::string(pattern)};
  rest = csv::trimmed(rest);
  if (rest.empty()) return {};
  if (rest.front() != ':') return fmt::format("a colon stands between TEST and WHAT, not \"{}\"", rest);
  std::string fault = accept.changes.read(csv::trimmed(rest.substr(1)));
  // A name may have a colon and a blank.
  return fault.empty() ? "" : fmt::format("WHAT: {}; a TEST with a colon and a blank stands in quotes", fault);
}

/// The test of the row as TEST.
std::string pattern_of(const judge::Comparison& row) {
  const model::PatternName window = judge::pattern_name(*row.new_window);
  std::string name(window.name);
  constexpr std::string_view kBenchmark = "benchmark ";
  if (window.kind == "benchmark" && name.starts_with(kBenchmark)) name.erase(0, kBenchmark.size());
  const std::string of_program = fmt::format(" ({})", window.program);
  if (row.new_window->name.ends_with(of_program)) name += of_program;
  std::replace(name.begin(), name.end(), '"', '?');
  if (name.starts_with('!')) name.front() = '?';  // it would mean all but this test
  const bool is_quoted =
      name.find(kBeforeChanges) != std::string::npos || name.find(kBeforeReason) != std::string::npos;
  return is_quoted ? '"' + name + '"' : name;
}

/// `+1 openat`; of counts that vary the name alone.
std::string term_of(const judge::Delta& delta) {
  const double more = delta.new_count.median - delta.old_count.median;
  if (delta.is_exact() && !render::count(std::abs(more)).starts_with('<')) return change_of(delta, more);
  return delta.errno_name.empty() ? delta.syscall : delta.errno_name;
}

}  // namespace

std::string accept_line(const judge::Comparison& row) {
  std::vector<std::string> terms;
  for (const judge::Delta& delta : row.deltas) {
    if (!delta.is_certain_change() || delta.is_accepted) continue;
    const bool is_sync = judge::family_of(delta.syscall) == judge::Family::syncs;
    if (delta.change == judge::Change::grew || is_sync) terms.push_back(term_of(delta));
  }
  if (row.has_leak) terms.emplace_back("leaks");
  return fmt::format("{}: {}{}{} -- REASON", kToken, pattern_of(row), terms.empty() ? "" : ": ",
                     fmt::join(terms, ", "));
}

std::vector<judge::Accept> parse_accept_lines(const std::string& file, std::string_view text, csv::Problems& problems) {
  std::vector<judge::Accept> accepts;
  std::size_t indented = 0;
  std::size_t number = 0;
  std::size_t begin = 0;             // of the line that `whole` began with
  std::optional<std::string> whole;  // with the lines that continue it
  const auto finish = [&] {
    if (!whole) return;
    judge::Accept accept;
    accept.where = fmt::format("{}:{}", file, begin);
    if (const std::string fault = read_line(csv::trimmed(*whole), accept); !fault.empty()) {
      problems.add(file, begin, fmt::format("{}; write {}", fault, kGrammar));
    } else if (std::none_of(accepts.begin(), accepts.end(), [&](const judge::Accept& one) {
                 return one.tests.patterns == accept.tests.patterns && one.reason == accept.reason &&
                        one.changes.text() == accept.changes.text();
               })) {  // a commit may be there twice
      accepts.push_back(std::move(accept));
    }
    whole.reset();
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool is_indented = !line.empty() && csv::kBlanks.find(line.front()) != std::string_view::npos;
    if (whole && is_indented && !csv::trimmed(line).empty()) {
      *whole += ' ' + std::string(csv::trimmed(line));
      continue;
    }
    finish();
    const Kind kind = kind_of(line);
    if (kind == Kind::other) continue;
    if (is_indented) {
      ++indented;
    } else if (kind == Kind::misspelled) {
      problems.add(file, number, fmt::format("no line of bench begins like this; write {}", kGrammar));
    } else {
      begin = number;
      whole = line.substr(line.find(':') + 1);
    }
  }
  finish();
  if (indented > 0) {
    problems.remark(file, fmt::format("{} line{} with Syscost-Accept {} indented, so {} not read: git log --format=%B "
                                      "prints commit messages as they are",
                                      indented, indented == 1 ? "" : "s", indented == 1 ? "is" : "are",
                                      indented == 1 ? "it is" : "they are"));
  }
  return accepts;
}

std::vector<judge::Accept> read_accept_lines(const std::string& file, csv::Problems& problems) {
  const bool is_standard_input = file == "-";
  const std::optional<std::string> text = csv::read_text(is_standard_input ? "/dev/stdin" : file, problems);
  if (!text) return {};
  return parse_accept_lines(is_standard_input ? "standard input" : file, *text, problems);
}

}  // namespace syscost::bench::commands
