// SPDX-License-Identifier: MIT
#include "model/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/syscall_table.h"
#include "csv/text.h"
#include "model/dataset.h"
#include "model/row_parser.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

bool fits_one(const std::vector<std::string>& patterns, const std::vector<std::string>& names) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return fits(pattern, name); });
  });
}

}  // namespace

TestChoice::TestChoice(std::string_view text) : text_(text) {
  const std::size_t minus = text.find('-');
  chosen_ = split(text.substr(0, minus));
  if (minus != std::string_view::npos) left_out_ = split(text.substr(minus + 1));
}

bool TestChoice::matches(const std::vector<std::string>& names) const {
  return (chosen_.empty() || fits_one(chosen_, names)) && !fits_one(left_out_, names);
}

bool fits(std::string_view pattern, std::string_view text) {
  // Where the last `*` is, and how much of the text it has matched so far.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  std::size_t p = 0;
  for (std::size_t t = 0; t < text.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool TestPatterns::matches(const PatternName& window, bool any_kind) const {
  // A program that is told apart by its folder is meant by its file name, too.
  if (!fits(program, window.program) && !fits(program, program_name(window.program))) return false;
  const std::string_view kind = window.kind;
  const bool is_named_by_kind = kind != "test" && kind != "loop" && kind != "benchmark";
  // A pattern says BM_Copy; the window is called `benchmark BM_Copy`.
  std::string_view name = window.name;
  if (kind == "benchmark" && name.starts_with("benchmark ")) name.remove_prefix(std::string_view("benchmark ").size());
  bool is_in = patterns.front().starts_with('!');
  for (std::string_view pattern : patterns) {
    const bool removes = pattern.starts_with('!');
    if (removes) pattern.remove_prefix(1);
    if (is_named_by_kind && !any_kind && !pattern.starts_with(kind_words(kind))) continue;
    // `Log.Write (net_tests)` is printed where several programs have the test.
    const bool has_program = pattern.ends_with(')') && fits(pattern, fmt::format("{} ({})", name, window.program));
    if (has_program || fits(pattern, name)) is_in = !removes;
  }
  return is_in;
}

std::string TestPatterns::text() const {
  return fmt::format("{}", fmt::join(patterns, ", "));
}

namespace {

Group group_of(Dataset& data, const Sample& key) {
  Group group{key.kind, key.test, key.window, key.parent, key.origin, kNoName, {}, false, {}};
  group.program = data.context(key).program;
  return group;
}

}  // namespace

bool is_chosen(Dataset& data, const Sample& key, const TestChoice& tests) {
  const Group group = group_of(data, key);
  std::vector<std::string> names = {base_name(data, group), full_name(data, group)};
  const std::string& kind = data.text(key.kind);
  if (kind != "suite" && kind != "environment") {
    names.push_back(data.text(key.test));
    names.push_back(fmt::format("{} ({})", data.text(key.test), data.text(group.program)));
  }
  if (group.is_loop(data)) names.push_back(owner_name(data, group));
  // Names as bench prints them are accepted too.
  for (std::size_t i = 0, count = names.size(); i < count; ++i) {
    if (std::string shown = csv::printable(names[i]); shown != names[i]) names.push_back(std::move(shown));
  }
  return tests.matches(names);
}

bool may_be_meant(Dataset& data, const Sample& key, const std::string& text) {
  Group group = group_of(data, key);
  const std::string wanted = csv::printable(text);
  const auto is_part = [&](const std::string& name) { return csv::printable(name).find(wanted) != std::string::npos; };
  if (is_part(full_name(data, group))) return true;
  // If another program has a window of this name, each name is shown with its program.
  if (const std::size_t program = wanted.rfind(" ("); program != std::string::npos) {
    if (csv::printable(base_name(data, group)).find(wanted.substr(0, program)) != std::string::npos) return true;
  }
  // The rows of tools in a window come with it.
  if (const NameId ours = data.names.intern(schema::kOriginSyscost); group.origin != ours) {
    group.origin = ours;
    if (is_part(full_name(data, group))) return true;
  }
  // The loops of a test come with it.
  return group.is_loop(data) && is_part(fmt::format("{} ({})", owner_name(data, group), data.text(group.program)));
}

namespace {

bool is_class(std::string_view word) {
  return std::find(schema::kClassWords.begin(), schema::kClassWords.end(), word) != schema::kClassWords.end();
}

/// Where the first term of `text` ends: a comma inside a regular expression does not end it.
std::size_t term_end(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t!");
  if (at != std::string_view::npos && text[at] == '/') {
    for (++at; at < text.size() && text[at] != '/'; ++at) {
      if (text[at] == '\\') ++at;
    }
  }
  return text.find(',', std::min(at, text.size()));
}

}  // namespace

bool SyscallChoice::Term::hits(const std::string& name, const std::string& detail, std::string_view classes) const {
  if (regex) {
    if (name.size() > kLongestSyscall) return false;
    const Result<bool> found = regex->is_found_in(name);
    return found.ok() && found.value();
  }
  if (word.empty()) return true;
  if (word.front() == '%') return has_class(classes, word.substr(1));
  return name == word || (!detail.empty() && name + " " + detail == word);
}

std::optional<SyscallChoice::Term> SyscallChoice::parse_term(std::string_view text, std::string& fault) {
  Term term;
  term.removes = text.starts_with('!');
  if (term.removes) text = csv::trimmed(text.substr(1));
  if (text.empty() || text.starts_with('!')) {
    fault = "a term is empty or negated twice";
  } else if (text.starts_with('/')) {
    if (text.size() < 3 || !text.ends_with('/')) {
      fault = fmt::format("{}: a regular expression stands between two slashes: /^epoll_/", text);
      return std::nullopt;
    }
    Result<Regex> regex = Regex::parse(text.substr(1, text.size() - 2));
    if (!regex.ok()) {
      fault = fmt::format("{}: not a regular expression, or too long a one, or one with a back reference",
                          text.substr(0, kLongestSyscall));
    }
    if (regex.ok()) term.regex = std::move(regex.value());
  } else if (text.starts_with('%') && !is_class(text.substr(1))) {
    fault = fmt::format("{}: no such class; there are %{}", text, fmt::join(schema::kClassWords, " %"));
  } else if (text != "*") {
    term.word = text;
  }
  return fault.empty() ? std::optional(std::move(term)) : std::nullopt;
}

std::optional<SyscallChoice> SyscallChoice::parse(std::string_view text, std::string& fault) {
  SyscallChoice choice;
  fault.clear();
  if (text.empty()) return choice;
  for (;;) {
    const std::size_t end = term_end(text);
    std::optional<Term> term = parse_term(csv::trimmed(text.substr(0, end)), fault);
    if (!term) return std::nullopt;
    choice.terms_.push_back(std::move(*term));
    if (end == std::string_view::npos) return choice;
    text.remove_prefix(end + 1);
  }
}

std::string SyscallChoice::unknown_name() const {
  for (const Term& term : terms_) {
    const std::string name = term.word.substr(0, term.word.find(' '));
    if (name.empty() || name.front() == '%' || parse_syscall_name(name)) continue;
    std::vector<std::string> names;
    for (const SyscallTableEntry& entry : syscall_table(kNativeAbi)) {
      if (!entry.name.empty()) names.emplace_back(entry.name);
    }
    return fmt::format("{}: there is no such syscall{} (one that only another version of bench knows: /^{}$/)", name,
                       or_rather(name, names), name);
  }
  return {};
}

/// True if it chooses calls of `name`, with some detail or with any.
bool SyscallChoice::may_match(const std::string& name, std::string_view classes) const {
  bool is_in = terms_.empty() || terms_.front().removes;
  for (const Term& term : terms_) {
    if (term.word.find(' ') != std::string::npos) {
      is_in = is_in || (!term.removes && term.word.starts_with(name + ' '));
    } else if (term.hits(name, "", classes)) {
      is_in = !term.removes;
    }
  }
  return is_in;
}

bool SyscallChoice::is_within(const SyscallChoice& whole) const {
  for (const Abi abi : {Abi::x86_64, Abi::i386, Abi::x32}) {
    const std::span<const SyscallTableEntry> table = syscall_table(abi);
    for (std::size_t number = 0; number < table.size(); ++number) {
      if (table[number].name.empty()) continue;
      const SyscallId id{abi, static_cast<std::uint32_t>(number)};
      const std::string name = syscall_name(id);
      const std::string classes = class_list(id);
      if (may_match(name, classes) && !whole.matches(name, "", classes)) return false;
    }
  }
  return true;
}

bool SyscallChoice::matches(const std::string& name, const std::string& detail, std::string_view classes) const {
  bool is_in = terms_.empty() || terms_.front().removes;
  for (const Term& term : terms_) {
    if (term.hits(name, detail, classes)) is_in = !term.removes;
  }
  return is_in;
}

namespace {

/// Characters after this many are ignored, because names can be long.
constexpr std::size_t kMostCompared = 200;

std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostCompared)) {
    if (c == '*' || c == '?') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

/// How many characters must be put in, taken out, replaced, or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last.back();
}

/// How far `name` is from `wanted`; none where too far.
std::optional<std::size_t> farness(const std::string& wanted, const std::string& name) {
  if (name.find(wanted) != std::string::npos) return 0;
  const std::size_t allowed = wanted.size() < 4 ? 1 : std::max<std::size_t>(2, wanted.size() / 4);
  const std::size_t lengths = std::max(wanted.size(), name.size()) - std::min(wanted.size(), name.size());
  if (lengths > allowed) return std::nullopt;
  const std::size_t apart = distance(wanted, name);
  return apart <= allowed ? std::optional(apart) : std::nullopt;
}

}  // namespace

std::vector<std::string> suggestions(std::string_view wanted, const std::vector<std::string>& names, std::size_t most) {
  const std::string asked = folded(wanted);
  std::vector<std::pair<std::size_t, std::string>> near;
  if (asked.empty()) return {};
  for (const std::string& name : names) {
    if (const auto far = farness(asked, folded(name))) near.emplace_back(*far, name);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) out.push_back(std::move(near[i].second));
  return out;
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names) {
  const std::vector<std::string> near = suggestions(wanted, names);
  if (near.empty()) return {};
  std::string text = "did you mean " + near.front();
  for (std::size_t i = 1; i < near.size(); ++i) text += (i + 1 == near.size() ? " or " : ", ") + near[i];
  return text + '?';
}

std::string or_rather(std::string_view wanted, const std::vector<std::string>& names) {
  const std::string question = did_you_mean(wanted, names);
  return question.empty() ? "" : "; " + question;
}

}  // namespace syscost::bench::model
