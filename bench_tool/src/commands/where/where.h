// SPDX-License-Identifier: MIT
//
// bench show --where and bench summary --where: which lines of the program make the calls.
//
// A line counts where the program's own code makes the call: a write inside std::ofstream counts for the line that uses
// the stream. The columns are those of summary, with sums in the place of medians, so that lines add up.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/terminal.h"
#include "stats/sites.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// A window with its sites: a test, or a loop that ran in it.
struct SitedTest {
  stats::WindowSummary window;
  std::vector<stats::SiteTotal> sites;
};

/// All tests of a RUN together.
struct SitedRun {
  std::string source;  ///< The line above it.
  model::Dataset data;
  std::size_t tests = 0;
  std::vector<stats::SiteTotal> sites;
};

/// Why `data` has no sites, and how to get them; for stderr.
std::string no_sites_text(const model::Dataset& data);

/// The key that `options` sort sites by.
std::string site_key(const cli::Options& options);

/// How many sites of a table are shown; 0: all.
std::size_t most_sites(const cli::Options& options, std::size_t lines_around);

/// One table after the other. Sites are sorted already.
std::string show_where_text(const std::vector<SitedTest>& tests, const cli::Options& options,
                            const render::Paint& paint);
std::string show_where_json(const model::Dataset& data, const std::vector<SitedTest>& tests);
std::string show_where_csv(const std::vector<SitedTest>& tests);

std::string summary_where_text(const SitedRun& run, const cli::Options& options, const render::Paint& paint);
std::string summary_where_json(const std::vector<SitedRun>& runs);
std::string summary_where_csv(const std::vector<SitedRun>& runs);

/// bench summary --where. Returns the exit code.
int summary_where(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// True if RUN is a file of folded stacks: `*.folded`. --syscost_where writes stacks.folded beside the CSV.
bool is_folded_file(const std::string& path);

/// bench show --svg for call stacks: draws that file. TEST leaves the stacks with a frame that holds it. Returns the
/// exit code.
int show_folded(const cli::Options& options, std::ostream& err);

/// Draws the lines of `tests`, by test, file, function and line. Returns why it could not, or "".
std::string draw_sites(const std::string& path, const std::vector<SitedTest>& tests);

}  // namespace syscost::bench::commands
