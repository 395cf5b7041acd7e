// SPDX-License-Identifier: MIT
//
// Selector and Filter: which syscalls a user chose by a text, and which of them a run counts.
#pragma once

#include <bitset>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/regex.h"
#include "core/syscall_id.h"
#include "core/syscall_table.h"
#include "os/errors.h"

namespace syscost {

/// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`: how far a mistyped name is from one that
/// exists. A refusal that names the flag that was meant is half a remedy.
std::size_t edit_distance(std::string_view a, std::string_view b);

// A selector says "which syscalls" as people write it: `write`, `%file`, `/^epoll_/`, `*`, `%desc,!close`.
//
// An assertion counts what a selector chooses and --syscost_filter measures it. The grammar is that of strace's
// `-e trace=`. A selector must never accept a typing error: "0 calls of wriet" would pass every limit. So a name that
// no table knows, a name that exists for 32-bit programs only and a regular expression that fits nothing are refused,
// with the nearest thing that exists.

/// A parsed selector. Immutable, readable from any thread.
///
/// Grammar: terms separated by commas, read from left to right; a later term overrules an earlier one.
///
///     write        the syscall, through whichever ABI it was made
///     i386:write   through that ABI only (also x32:)
///     syscall_500  a number without a name; `unknown` for what no number can name
///     %file        every member of a class
///     /^epoll_/    every name in which this ECMAScript regular expression is found; `/` within is written `\/`
///     *            all
///     !TERM        removes; when the first term removes, the rest starts from all
class Selector {
 public:
  /// Reads `text`. Terms live in `memory`; only regular expressions allocate elsewhere, so that a selector without
  /// one can be used inside a window.
  static Result<Selector> parse(std::string_view text,
                                std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  bool matches(SyscallId id) const;

  /// False when no syscall with a number of at least `first`, beyond every table, can match.
  bool may_match_from(std::uint32_t first) const;

  /// Calls visit(SyscallId) for each term that names one number of one ABI.
  template <class Visit>
  void for_each_number(Visit visit) const {
    for (const Term& term : terms_) {
      if (term.kind == Term::Kind::kOne) visit(term.id);
    }
  }

 private:
  struct Term {
    enum class Kind { kAll, kOne, kName, kClass, kRegex };
    Kind kind = Kind::kAll;
    bool removes = false;
    SyscallId id;  // kOne: this very syscall; kName: this and its namesakes of other ABIs
    SyscallClass bit = SyscallClass::none;
    std::optional<Regex> regex;  // kRegex

    bool hits(SyscallId candidate) const;
  };

  explicit Selector(std::pmr::memory_resource* memory) : terms_(memory) {}

  static Result<Term> parse_term(std::string_view word);
  static Result<Term> parse_regex(std::string_view word);
  static Result<Term> parse_name(std::string_view name);

  std::pmr::vector<Term> terms_;  // never empty
};

/// The syscalls that --syscost_filter lets a run count. Immutable, readable from any thread.
///
/// A backend counts only what the filter selects, so that the other calls cost next to nothing. They were not measured,
/// and must never be taken for 0: code that reads a number must check the filter first.
class Filter {
 public:
  /// Numbers below this are looked up, those beyond are matched one by one. No table of the kernel's reaches it.
  static constexpr std::uint32_t kNumbers = 1024;

  static Result<std::shared_ptr<const Filter>> parse(std::string_view text);

  /// As given.
  const std::string& text() const { return text_; }
  bool selects(SyscallId id) const;
  /// False when no number from kNumbers on is selected; true when some may be.
  bool may_select_beyond() const { return selector_.may_match_from(kNumbers); }

  /// The syscalls that `wanted` chooses and that are not counted: "write", or "read, write, open and 96 more"; empty
  /// when all are. Makes no allocation then, unless `wanted` has a regular expression.
  std::string left_out(const Selector& wanted) const;

 private:
  Filter(std::string_view text, Selector selector);

  std::string text_;
  Selector selector_;
  std::bitset<kAbiCount * kNumbers> selected_;
};

}  // namespace syscost
