// SPDX-License-Identifier: MIT
//
// The lines of a program in words: where a call is made, and which lines a changed count comes from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/verdict.h"
#include "model/site.h"
#include "model/test_locations.h"

namespace syscost::bench::commands {

/// `src/log.cc:17 Log::batch` in at most `width` columns (0: any): first the folders give way, then the middle of the
/// function. File and line stay whole.
std::string fitted_site(const model::Site& site, std::size_t width);

/// A part of a changed count: `write: +100 at src/log.cc:10 Log::batch (new)`.
struct SiteLine {
  std::string count;   ///< `write`, `openat ENOENT`, `write (per run)`; of NEW alone `write in NEW`.
  std::string amount;  ///< `+100`, `1 [1..2] -> 5 [5..6]`, `100`.
  std::optional<model::Site> site;
  std::string remark;  ///< `(new)`, `(gone)`, `(1 -> 3)`; without a site: what `amount` is.

  std::string text(std::size_t width = 0) const;
  std::string markdown() const;
};

/// The lines that explain what grew and shrank in `row`, the counts in the order of the row, at most `most` lines of
/// each (0: all). Volatile counts have none.
std::vector<SiteLine> site_lines(const judge::Comparison& row, std::size_t most = 0);

/// How many lines of each count people see.
inline constexpr std::size_t kFewSiteLines = 5;

/// The same as text under a row of a table: one below the other, indented.
std::string site_block(const std::vector<SiteLine>& lines, std::size_t width);

/// The same as a list for a page, one item for each of `names` with lines; "" where none has any.
std::string site_list(const std::vector<std::string>& names, const std::vector<std::vector<SiteLine>>& lines);

/// The same in one line: `write: +100 at a.cc:10 A::a (new), -1 at b.cc:3 B::b (gone); openat: ...`.
std::string site_sentence(const std::vector<SiteLine>& lines);

/// The line of a site, if its file is in the checkout (the working directory).
std::optional<model::Location> line_here(const model::Site& site);

/// The line of the checkout (the working directory) that grew most in `row`, of gated counts; none where no line is
/// known to have grown, or its file is not there.
std::optional<model::Location> grown_line(const judge::Comparison& row);

}  // namespace syscost::bench::commands
