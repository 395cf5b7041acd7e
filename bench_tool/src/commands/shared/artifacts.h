// SPDX-License-Identifier: MIT
//
// Artifacts: finds the files that syscost left for a test beside the CSV: its trace, or the events of the scheduler.
//
// A command that shows one file finds it by the name that the user gave. A command that reads a whole run finds the
// files of each window.
#pragma once

#include <array>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "trace/artifacts.h"
#include "trace/critical_path.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {

struct ArtifactKind {
  const char* file;            ///< Its name in a test's folder.
  const char* ending;          ///< The end of a path that names such a file itself.
  const char* what;            ///< `trace`: in messages, where an `s` makes it a plural.
  const char* how_to;          ///< A line that says how a run gets one.
  const char* text = nullptr;  ///< The name of a file beside it that has the same as text; null = there is none.
};

/// The path of the file that `options.trace` names. Empty after it printed why there is none.
std::optional<std::string> find_artifact(const cli::Options& options, const ArtifactKind& kind, csv::Problems& problems,
                                         std::ostream& err);

/// The name of a window as the plugin's folders have it.
std::string folder_name(const model::Dataset& data, const model::Sample& sample);

/// Finds the trace that a window of a CSV left, or the scheduler's events.
class WindowTraces {
 public:
  /// `data` and `problems` must outlive it. `folder` empty: the folder beside each CSV. Looks into folders.
  WindowTraces(const model::Dataset& data, csv::Problems& problems, std::string folder = {})
      : data_(data), problems_(problems), folder_(std::move(folder)) {}

  /// Those that may be of `sample`, by their folders' names: traces, or other files of a test by their name.
  std::vector<trace::FoundTrace> candidates(const model::Sample& sample,
                                            const std::string& file_name = trace::kTraceName);
  /// The trace of the first repetition that has one.
  std::optional<trace::TraceFile> of(const model::Group& group);
  /// The same of the events of the scheduler.
  std::optional<trace::SchedFile> sched_of(const model::Group& group);

 private:
  const model::Dataset& data_;
  csv::Problems& problems_;
  const std::string folder_;
  /// By folder, run and the files' name.
  std::map<std::array<std::string, 3>, std::vector<trace::FoundTrace>> traces_;
};

}  // namespace syscost::bench::commands
