// SPDX-License-Identifier: MIT
//
// Accept: a change of a test's counts that the project intends. A change that it matches is shown and does not fail the
// gate.
//
// It is about differences of counts alone: a test that failed, is missing or was not counted completely stays what it
// is. An accept turns nothing red, and what it does not match is judged as if it were not there. ChangeChoice says
// which changes are meant, in the words in which bench prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/direction.h"
#include "judge/verdict.h"
#include "model/choice.h"

namespace syscost::bench::judge {

/// The changes of a test's counts that are meant. Terms with commas or semicolons between:
///
///     +1 openat, -2 lseek    what compare prints: up to so many calls more or fewer
///     +1 EACCES              up to so many failures more; `(new in openat)`: of this syscall
///     +1 openat (per run)    of the calls that a benchmark makes once per run
///     fewer syncs            or `more syncs`; `fewer syncs: 8 -> 1`: between these counts alone
///     leaks                  descriptors that stay open
///     data out               any change of a family of calls
///     ENOENT                 any change of failures with this errno
///     write, %file, !close   any change of the calls of these syscalls and of their failures (model/choice.h)
///
/// No text: any change.
class ChangeChoice {
 public:
  /// Returns what is wrong with `text`, or "".
  std::string read(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_any() const { return text_.empty(); }
  /// `delta` is one of `row`.
  bool matches(const Delta& delta, const Comparison& row) const;
  bool matches_leaks() const { return is_any() || has_leaks_; }

 private:
  struct Amount {
    bool is_more = false;
    double most = 0;
    std::string syscall;     ///< Empty: any.
    std::string errno_name;  ///< Empty: the calls.
    bool is_per_run = false;

    bool matches(const Delta& delta) const;
  };
  struct Syncs {
    bool is_fewer = false;
    std::optional<std::pair<double, double>> counts;

    bool matches(const Comparison& row) const;
  };

  std::string read_term(std::string_view term, std::string& selectors);
  std::string read_amount(std::string_view term);
  std::string read_syncs(std::string_view term);

  std::string text_;
  std::vector<Amount> amounts_;
  std::vector<Syncs> syncs_;
  std::vector<Family> families_;
  std::vector<std::string> errnos_;
  bool has_sync_opens_ = false;
  std::optional<model::SyscallChoice> syscalls_;
  bool has_leaks_ = false;
};

struct Accept {
  std::string where;  ///< `syscost.toml:12`
  model::TestPatterns tests;
  ChangeChoice changes;
  std::string reason;
  bool is_in_file = false;  ///< It stays there until someone removes it; that of a commit message does not.
};

/// An entry of a project's file for some tests, `volatile` or `tolerate`.
struct RuleOfTests {
  std::string name;  ///< As lines name it: `tolerate read=3 in Log.*, !Log.Polls (syscost.toml:12)`.
  model::TestPatterns tests;
};

/// A line for each entry that no test of `rows` has a name for.
std::vector<std::string> unused_rules(const std::vector<RuleOfTests>& rules, const std::vector<Comparison>& rows);

/// The reason as it is shown: on one line, without control characters; "" if `text` says nothing.
std::string reason_text(std::string_view text);

/// Marks what `accepts` match, and judges these rows again. Call it before decide_doubts().
void accept_changes(const std::vector<Accept>& accepts, std::vector<Comparison>& rows);

/// A line for each accept that changed no verdict, with the reason. `rows` are all of the comparison, decided; if they
/// are `chosen` tests, accepts of others are left out.
std::vector<std::string> unused_accepts(const std::vector<Accept>& accepts, const std::vector<Comparison>& rows,
                                        bool chosen = false);

}  // namespace syscost::bench::judge
