// SPDX-License-Identifier: MIT
//
// SyscallChoice: the SYSCALL argument of show. It says which syscalls of a test are shown.
//
// The words are those of --syscost_filter and of the assertions, so that one selector says the same everywhere. It is
// matched with what the rows say, their names and classes, because bench knows no table of syscalls: a CSV may come
// from another kernel. A name that the test did not call is therefore no error here; show says what it did call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/regex.h"

namespace syscost::bench::model {

/// A longer name is no syscall's: the longest one has 23 bytes.
inline constexpr std::size_t kLongestSyscall = 64;

/// Grammar: terms separated by commas, read from left to right; a later term overrules an earlier one.
///
///     write          the syscall
///     ioctl TCGETS   the syscall with this detail
///     %file          every member of a class
///     /^epoll_/      every name in which this ECMAScript regular expression is found
///     *              all; so does an empty text
///     !TERM          removes; when the first term removes, the rest starts from all
class SyscallChoice {
 public:
  /// Reads `text`; on a fault nothing, and `fault` says what is wrong with which term.
  static std::optional<SyscallChoice> parse(std::string_view text, std::string& fault);

  /// Says which of the terms names no syscall of any kernel that we know; "" if none does.
  std::string unknown_name() const;

  /// `classes`: the row's column `class`.
  bool matches(const std::string& name, const std::string& detail, std::string_view classes) const;

 private:
  struct Term {
    bool removes = false;
    std::string word;  ///< A name, or a class without its %; empty for a regular expression and for all.
    std::optional<Regex> regex;

    bool hits(const std::string& name, const std::string& detail, std::string_view classes) const;
  };

  static std::optional<Term> parse_term(std::string_view text, std::string& fault);

  std::vector<Term> terms_;
};

}  // namespace syscost::bench::model
