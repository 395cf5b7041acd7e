// SPDX-License-Identifier: MIT
//
// sites: how much each line of the program calls, and which site of OLD is which of NEW.
//
// Sums and no medians, because the sites of a syscall then add up to the syscall, also where threads take turns. Lines
// move between two builds, a function may be renamed, and a file may move: none of this changes a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/choice.h"
#include "model/dataset.h"
#include "model/site.h"
#include "stats/repetitions.h"

namespace syscost::bench::stats {

/// One syscall at one site. Sums; nullopt where a row did not measure it.
struct SiteTotal {
  std::string syscall;  ///< `write`, `ioctl TCGETS`
  std::string_view classes;
  bool is_wait = false;
  model::Site site;
  std::optional<std::uint64_t> calls = 0;  ///< Entries, where a row has no calls.
  std::optional<std::uint64_t> errors = 0;
  std::optional<std::uint64_t> kernel_ns = 0;
  std::map<std::string, std::uint64_t, std::less<>> errnos = {};
  std::size_t tests = 0;  ///< How many tests reach it, themselves or in a loop; a set-up counts as one.
};

/// Adds up windows of one Dataset, which must outlive it.
class SiteTotals {
 public:
  explicit SiteTotals(const model::Dataset& data) : data_(data) {}

  /// The syscalls of `choice` in all repetitions of a window.
  void add(const model::Group& group, const model::SyscallChoice& choice);
  /// In no order.
  std::vector<SiteTotal> all() const;

 private:
  const model::Dataset& data_;
  using Names = std::pair<model::NameId, model::NameId>;
  struct Entry {
    SiteTotal total;
    std::set<Names> tests;  ///< Program and test.
  };
  std::map<Names, Entry> entries_;  ///< By syscall and detail.
};

/// Puts `sites` in the order `key`: `kernel`, `calls` or `errors`, the most first, or `name` (of the site).
void sort_sites(std::vector<SiteTotal>& sites, std::string_view key);

/// How often one site makes a call, over the repetitions.
struct SiteCount {
  model::Site site;
  Spread count;
};

/// A site that makes a call more or less often than before.
struct SiteChange {
  /// `in_new`: the sites of OLD are not known, and this is how often NEW makes the call here.
  enum class Kind { changed, is_new, gone, in_new };

  model::Site site;  ///< Where it is in NEW; of one that is gone, where it was.
  Kind kind = Kind::changed;
  Spread old_count;
  Spread new_count;

  bool is_exact() const { return old_count.is_exact() && new_count.is_exact(); }
  double more() const { return new_count.median - old_count.median; }
};

/// Returns the changes between sites of one syscall, the largest one first. Two counts that differ by at most
/// `rounding` are the same, and so are two that vary, if their ranges overlap. If all counts are exact and `rounding`
/// is 0, the changes add up to the difference of all counts.
///
/// Sites are matched by file, function and line within the function, because text that is inserted above a function or
/// inside it moves lines. Lines of a function that make as many calls as before, in the same order, are the same lines.
/// A function or a file with the same counts under a new name is the same one.
std::vector<SiteChange> align_sites(const std::vector<SiteCount>& old_sites, const std::vector<SiteCount>& new_sites,
                                    double rounding);

/// NEW's sites alone, as Kind::in_new; the one with most calls first.
std::vector<SiteChange> sites_in_new(const std::vector<SiteCount>& new_sites);

}  // namespace syscost::bench::stats
