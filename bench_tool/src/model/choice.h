// SPDX-License-Identifier: MIT
//
// choice: which tests and which syscalls the user means, by patterns and selectors.
//
// The grammar for tests is that of --gtest_filter, because users know it. The words for syscalls are those of
// --syscost_filter and of the assertions. So one selector says the same everywhere: in commands, budgets, rules and
// accepts. If there is no such name, a suggestion says which one was meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/regex.h"
#include "model/dataset.h"

namespace syscost::bench::model {

/// The tests that a command shows. `Log.*:Net.*-*Slow*`: patterns with colons between them. Patterns after a minus
/// leave tests out. `*` is any text and `?` is any character. A pattern must fit the whole name.
class TestChoice {
 public:
  /// "" chooses every test.
  TestChoice() = default;
  explicit TestChoice(std::string_view text);

  bool is_everything() const { return chosen_.empty() && left_out_.empty(); }
  const std::string& text() const { return text_; }
  /// True if a pattern fits one of the `names` of a test, and no pattern after the minus fits any.
  bool matches(const std::vector<std::string>& names) const;

 private:
  std::string text_;
  std::vector<std::string> chosen_;
  std::vector<std::string> left_out_;
};

/// True if `pattern` with `*` and `?` fits the whole of `text`.
bool fits(std::string_view pattern, std::string_view text);

/// The names that patterns are matched with.
struct PatternName {
  std::string_view kind;     ///< One of schema::kKinds.
  std::string_view name;     ///< As it is printed, without the program: `Log.Write, loop flush`.
  std::string_view program;  ///< model::Context::program
};

/// The tests that a budget, a rule or an accept of a project's file means.
struct TestPatterns {
  std::vector<std::string> patterns = {"*"};  ///< With * and ?; one that begins with ! takes out what it matches.
  std::string program = "*";                  ///< A pattern.

  /// Windows that are no test, loop or benchmark match a pattern that names their kind, such as `suite *`. With
  /// `any_kind` each pattern is for them, too.
  bool matches(const PatternName& window, bool any_kind = false) const;
  /// `Log.*, !Log.Polls`
  std::string text() const;
};

/// True if `tests` chooses the window with `key`. The key of a row decides that before the row is kept. A test brings
/// its loops and scopes. A window of no test is chosen by the name that is printed.
bool is_chosen(Dataset& data, const Sample& key, const TestChoice& tests);

/// True if `text`, a name or a part of one, may mean the window with `key`. Also true if the window is shown with one
/// that is meant: its loops, the same window as tools counted it, and windows of this name in other programs.
bool may_be_meant(Dataset& data, const Sample& key, const std::string& text);

/// A longer name is no syscall's: the longest one has 23 bytes.
inline constexpr std::size_t kLongestSyscall = 64;

/// The SYSCALL argument of show: the syscalls of a test that are shown.
///
/// It is matched with what the rows say, their names and classes, because bench knows no table of syscalls: a CSV may
/// come from another kernel. A name that the test did not call is therefore no error here; show says what it did call.
///
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

  /// True if `whole` chooses each syscall that we know and that this one chooses, in whole or in part. So a run that
  /// counted `whole` counted all of these.
  bool is_within(const SyscallChoice& whole) const;

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
  bool may_match(const std::string& name, std::string_view classes) const;

  std::vector<Term> terms_;
};

/// Up to `most` of `names` that are near to `wanted`, the nearest first: those that hold it, and those that a few
/// typing errors are apart. Case and wildcards do not count.
std::vector<std::string> suggestions(std::string_view wanted, const std::vector<std::string>& names,
                                     std::size_t most = 3);

/// `did you mean A, B or C?`, without a line feed; "" where nothing is near.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

/// The same as the end of a message: `; did you mean A?`, or "".
std::string or_rather(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace syscost::bench::model
