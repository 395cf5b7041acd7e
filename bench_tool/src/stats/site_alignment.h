// SPDX-License-Identifier: MIT
//
// Finds for each site of OLD the same site in NEW.
//
// Between two builds, lines move: by text inserted above a function or inside it. A function may be renamed, and a file
// may move. None of this changes a count. So sites of one syscall are matched by file, function and line within the
// function. Lines of a function that make as many calls as before, in the same order, are the same lines. A function or
// a file with the same counts under a new name is the same one.
#pragma once

#include <vector>

#include "model/site.h"
#include "stats/spread.h"

namespace syscost::bench::stats {

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
std::vector<SiteChange> align_sites(const std::vector<SiteCount>& old_sites, const std::vector<SiteCount>& new_sites,
                                    double rounding);

/// NEW's sites alone, as Kind::in_new; the one with most calls first.
std::vector<SiteChange> sites_in_new(const std::vector<SiteCount>& new_sites);

}  // namespace syscost::bench::stats
