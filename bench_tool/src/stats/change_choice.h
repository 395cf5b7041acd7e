// SPDX-License-Identifier: MIT
//
// ChangeChoice: which changes of a test's counts are meant, in the words in which bench prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/families.h"
#include "model/syscall_choice.h"
#include "stats/verdict.h"

namespace syscost::bench::stats {

/// Terms with commas or semicolons between:
///
///     +1 openat, -2 lseek    what compare prints: up to so many calls more or fewer
///     +1 EACCES              up to so many failures more; `(new in openat)`: of this syscall
///     +1 openat (per run)    of the calls that a benchmark makes once per run
///     fewer syncs            or `more syncs`; `fewer syncs: 8 -> 1`: between these counts alone
///     leaks                  descriptors that stay open
///     data out               any change of a family of calls
///     ENOENT                 any change of failures with this errno
///     write, %file, !close   any change of the calls of these syscalls and of their failures (model/syscall_choice.h)
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
  std::vector<judge::Family> families_;
  std::vector<std::string> errnos_;
  std::optional<model::SyscallChoice> syscalls_;
  bool has_leaks_ = false;
};

}  // namespace syscost::bench::stats
