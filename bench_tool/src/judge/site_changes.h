// SPDX-License-Identifier: MIT
//
// Which lines of the program a changed count comes from.
//
// Verdicts do not depend on sites: they are made of Dataset::rows, which do not tell sites apart. This looks at
// Dataset::site_rows when the verdict is there.
#pragma once

#include "judge/verdict.h"
#include "model/dataset.h"

namespace syscost::bench::judge {

/// A window of one side, with the rows that name sites.
struct SitedWindow {
  const model::Dataset* data = nullptr;  ///< Null: a baseline, which has no sites.
  const model::Group* group = nullptr;   ///< Null: the window made no call.
};

/// Fills in Delta::sites of `row`, where they are known: NEW must know its sites. Sites of OLD that are not known leave
/// those of NEW alone, as SiteChange::Kind::in_new. A side that does not make the call needs no sites.
void explain_by_sites(const SitedWindow& old_side, const SitedWindow& new_side, Comparison& row);

/// How much of an exact change the sites of `delta` do not explain, because the counts of some sites vary; 0 if all of
/// it is explained, or if the change is not exact.
double unexplained(const Delta& delta);

}  // namespace syscost::bench::judge
