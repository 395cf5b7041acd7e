// SPDX-License-Identifier: MIT
#include "core/selector.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/syscall_table.h"

namespace syscost {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

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

namespace {

constexpr std::size_t position(SyscallId id) {
  return static_cast<std::size_t>(id.abi) * Filter::kNumbers + id.number;
}

/// Names the first few of a list and counts the rest.
class ShortList {
 public:
  void add(SyscallId id) {
    constexpr std::size_t kNamed = 3;
    if (++count_ > kNamed) return;
    if (count_ > 1) text_ += ", ";
    text_ += syscall_name(id);
    named_ = count_;
  }
  std::string text() && {
    if (count_ > named_) text_.append(" and ").append(std::to_string(count_ - named_)).append(" more");
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
  std::size_t named_ = 0;
};

}  // namespace

Filter::Filter(std::string_view text, Selector selector) : text_(text), selector_(std::move(selector)) {
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      const SyscallId id{static_cast<Abi>(abi), number};
      selected_[position(id)] = selector_.matches(id);
    }
  }
}

Result<std::shared_ptr<const Filter>> Filter::parse(std::string_view text) {
  Result<Selector> selector = Selector::parse(text);
  if (!selector.ok()) return selector.failure();
  return std::shared_ptr<const Filter>(new Filter(text, std::move(selector.value())));
}

bool Filter::selects(SyscallId id) const {
  return id.number < kNumbers ? selected_[position(id)] : selector_.matches(id);
}

std::string Filter::left_out(const Selector& wanted) const {
  ShortList missing;
  // The table first, because it is fast. Regular expressions last, because they allocate.
  auto is_missing = [&](SyscallId id) {
    return (id.number >= kNumbers || !selected_[position(id)]) && wanted.matches(id) && !selects(id);
  };
  for (std::size_t abi = 0; abi < kAbiCount; ++abi) {
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      const SyscallId id{static_cast<Abi>(abi), number};
      // A number without a name is selected only by its own name, below: `*` selects existing syscalls.
      if (syscall_base_name(id).empty() || !is_missing(id)) continue;
      // `openat` is enough; `i386:openat` only if that one alone is missing.
      const auto namesake = find_syscall(kNativeAbi, syscall_base_name(id));
      if (id.abi == kNativeAbi || !namesake.has_value() || !is_missing(*namesake)) missing.add(id);
    }
  }
  auto check = [&](SyscallId id) {
    const bool is_new = id.number >= kNumbers || syscall_base_name(id).empty();
    if (is_new && is_missing(id)) missing.add(id);
  };
  wanted.for_each_number(check);
  selector_.for_each_number(check);
  // One number stands for all numbers without a name.
  if (const SyscallId some{kNativeAbi, kNumbers}; is_missing(some)) missing.add(kUnknownSyscall);
  return std::move(missing).text();
}

}  // namespace syscost
