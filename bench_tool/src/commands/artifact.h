// SPDX-License-Identifier: MIT
//
// Finds a file that syscost left for one test, beside the CSV: its trace, or the events of the scheduler.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "cli/options.h"
#include "csv/problems.h"

namespace syscost::bench::commands {

struct ArtifactKind {
  const char* file;            ///< Its name in a test's folder.
  const char* ending;          ///< Of a path that names such a file itself.
  const char* what;            ///< `trace`: in messages, where an `s` makes it a plural.
  const char* how_to;          ///< A line that says how a run gets one.
  const char* text = nullptr;  ///< The name of a file beside it that has the same as text; null = there is none.
};

/// The path of the file that `options.trace` names. Empty after it printed why there is none.
std::optional<std::string> find_artifact(const cli::Options& options, const ArtifactKind& kind, csv::Problems& problems,
                                         std::ostream& err);

}  // namespace syscost::bench::commands
