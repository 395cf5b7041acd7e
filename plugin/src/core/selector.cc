// SPDX-License-Identifier: MIT
#include "core/selector.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>

#include "core/edit_distance.h"

namespace syscost {
namespace {

std::string grammar() {
  std::string classes;
  for (const ClassName& known : kSyscallClasses) classes.append(classes.empty() ? "%" : " %").append(known.word);
  return "A selector is a syscall name, a class (" + classes +
         "), a regular expression (/^epoll_/), * for all, or a comma-separated list of these in which ! removes.";
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string in_quotes(std::string_view text) {
  return std::string("'").append(text).append("'");
}

// "Did you mean 'write'? " for what is near enough to be a typing error, else "". A word that a known name begins
// with (pread, pread64) is nearest of all.
std::string suggestion(std::string_view word) {
  constexpr std::size_t kLongest = 64;
  if (word.size() > kLongest) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  auto consider = [&](std::string candidate) {
    std::size_t distance = candidate.starts_with(word) && word.size() > 2 ? 0 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = std::move(candidate);
    }
  };
  for (const ClassName& known : kSyscallClasses) {
    // A class without its percent sign, or a class misspelt.
    if (word == known.word) return "Did you mean '%" + std::string(known.word) + "'? ";
    if (word.starts_with('%')) consider("%" + std::string(known.word));
  }
  if (!word.starts_with('%')) {
    for (const SyscallTableEntry& entry : syscall_table(kNativeAbi)) {
      if (!entry.name.empty()) consider(std::string(entry.name));
    }
  }
  return best.empty() ? std::string() : "Did you mean " + in_quotes(best) + "? ";
}

// Cuts the next term off `rest`, with its "!" but without the comma. A comma inside a regular expression is not one.
std::string_view take_term(std::string_view& rest, bool& more) {
  std::size_t at = rest.find_first_not_of(" \t\n!");
  std::size_t end = 0;
  if (at != std::string_view::npos && rest[at] == '/') {
    for (end = at + 1; end < rest.size() && rest[end] != '/'; ++end) {
      if (rest[end] == '\\') ++end;
    }
  }
  end = rest.find(',', std::min(end, rest.size()));
  more = end != std::string_view::npos;
  std::string_view term = rest.substr(0, end);
  rest = more ? rest.substr(end + 1) : std::string_view();
  return trimmed(term);
}

// True if the expression is found in a name of any table.
Result<bool> fits_any_name(const Regex& regex) {
  const auto fits = [&regex](std::string_view name) { return regex.is_found_in(name); };
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    for (const SyscallTableEntry& entry : syscall_table(static_cast<Abi>(abi))) {
      if (entry.name.empty()) continue;
      if (Result<bool> found = fits(entry.name); !found.ok() || found.value()) return found;
      const std::string full = std::string(abi_prefix(static_cast<Abi>(abi))).append(entry.name);
      if (Result<bool> found = fits(full); !found.ok() || found.value()) return found;
    }
  }
  if (Result<bool> found = fits("unknown"); !found.ok() || found.value()) return found;
  return fits("syscall_1000");
}

// parse() has tried the expression on every known name; one that is too long for another name does not fit it.
bool fits_name(const Regex& regex, std::string_view name) {
  const Result<bool> found = regex.is_found_in(name);
  return found.ok() && found.value();
}

}  // namespace

Result<Selector> Selector::parse(std::string_view text, std::pmr::memory_resource* memory) {
  Selector selector(memory);
  bool more = true;
  for (std::string_view rest = text; more;) {
    std::string_view word = take_term(rest, more);
    bool removes = word.starts_with('!');
    if (removes) word = trimmed(word.substr(1));
    if (word.empty()) {
      return Failure{"The selector " + in_quotes(text) + (trimmed(text).empty() ? " is empty." : " has an empty term."),
                     grammar()};
    }
    Result<Term> term = parse_term(word);
    if (!term.ok()) return term.failure();
    term.value().removes = removes;
    selector.terms_.push_back(std::move(term.value()));
  }
  return selector;
}

Result<Selector::Term> Selector::parse_term(std::string_view word) {
  Term term;
  if (word == "*") return term;
  if (word.starts_with('/')) return parse_regex(word);
  if (!word.starts_with('%')) return parse_name(word);
  for (const ClassName& known : kSyscallClasses) {
    if (word.substr(1) != known.word) continue;
    term.kind = Term::Kind::kClass;
    term.bit = known.bit;
    return term;
  }
  return Failure{in_quotes(word) + " is not a class of syscalls.", suggestion(word).append(grammar())};
}

Result<Selector::Term> Selector::parse_regex(std::string_view word) {
  if (word.size() < 2 || !word.ends_with('/')) {
    return Failure{"The regular expression " + in_quotes(word) + " has no closing /.",
                   "Write it between two slashes; a slash within is written \\/."};
  }
  std::string_view pattern = word.substr(1, word.size() - 2);
  if (pattern.empty()) return Failure{"The regular expression // is empty.", "Write * to choose every syscall."};
  Result<Regex> regex = Regex::parse(pattern);
  Result<bool> fits = regex.ok() ? fits_any_name(regex.value()) : Result<bool>(regex.failure());
  if (!fits.ok()) {
    return Failure{"The regular expression " + in_quotes(word) + " is malformed: " + fits.failure().reason + ".",
                   "Use ECMAScript syntax, e.g. /^(p?read|write)v?$/."};
  }
  if (!fits.value()) {
    return Failure{"The regular expression " + in_quotes(word) + " matches no syscall.",
                   "Names are lower case with underscores, e.g. /^epoll_/."};
  }
  Term term;
  term.kind = Term::Kind::kRegex;
  term.regex = std::move(regex.value());
  return term;
}

Result<Selector::Term> Selector::parse_name(std::string_view name) {
  Term term;
  if (std::optional<SyscallId> id = parse_syscall_name(name)) {
    bool has_namesakes = id->abi == kNativeAbi && !syscall_base_name(*id).empty();
    term.kind = has_namesakes ? Term::Kind::kName : Term::Kind::kOne;
    term.id = *id;
    return term;
  }
  for (const ClassName& known : kSyscallClasses) {
    if (name == known.word) return Failure{in_quotes(name) + " is not a syscall.", suggestion(name).append(grammar())};
  }
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    if (!find_syscall(static_cast<Abi>(abi), name)) continue;
    std::string full = std::string(abi_prefix(static_cast<Abi>(abi))).append(name);
    return Failure{in_quotes(name) + " is a syscall of another ABI only: 64-bit code never makes it.",
                   suggestion(name) + "Write " + in_quotes(full) + " if that is meant."};
  }
  return Failure{in_quotes(name) + " is not a known syscall.", suggestion(name).append(grammar())};
}

bool Selector::Term::hits(SyscallId candidate) const {
  switch (kind) {
    case Kind::kAll:
      return true;
    case Kind::kOne:
      return candidate.without_detail() == id;
    case Kind::kName:
      return candidate.without_detail() == id || syscall_base_name(candidate) == syscall_base_name(id);
    case Kind::kClass:
      return overlaps(syscall_classes(candidate), bit);
    case Kind::kRegex:
      break;
  }
  return fits_name(*regex, syscall_base_name(candidate)) || fits_name(*regex, syscall_name(candidate));
}

bool Selector::may_match_from(std::uint32_t first) const {
  if (terms_.front().removes) return true;
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    if (term.removes) return false;
    return term.kind == Term::Kind::kAll || term.kind == Term::Kind::kRegex ||
           (term.kind == Term::Kind::kOne && term.id.number >= first);
  });
}

bool Selector::matches(SyscallId id) const {
  bool chosen = terms_.front().removes;
  for (const Term& term : terms_) {
    if (term.hits(id)) chosen = !term.removes;
  }
  return chosen;
}

}  // namespace syscost
