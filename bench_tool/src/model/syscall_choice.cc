// SPDX-License-Identifier: MIT
#include "model/syscall_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/syscall_table.h"
#include "csv/trimmed.h"
#include "model/lists.h"
#include "model/suggestion.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
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

bool SyscallChoice::matches(const std::string& name, const std::string& detail, std::string_view classes) const {
  bool is_in = terms_.empty() || terms_.front().removes;
  for (const Term& term : terms_) {
    if (term.hits(name, detail, classes)) is_in = !term.removes;
  }
  return is_in;
}

}  // namespace syscost::bench::model
