// SPDX-License-Identifier: MIT
//
// WindowTraces: finds the trace that a window of a CSV left.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"
#include "model/group.h"
#include "trace/find_traces.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {

/// The name of a window as the plugin's folders have it.
std::string folder_name(const model::Dataset& data, const model::Sample& sample);

class WindowTraces {
 public:
  /// `data` and `problems` must outlive it. `folder` empty: the folder beside each CSV. Looks into folders.
  WindowTraces(const model::Dataset& data, csv::Problems& problems, std::string folder = {})
      : data_(data), problems_(problems), folder_(std::move(folder)) {}

  /// Those that may be of `sample`, by their folders' names.
  std::vector<trace::FoundTrace> candidates(const model::Sample& sample);
  /// The trace of the first repetition that has one.
  std::optional<trace::TraceFile> of(const model::Group& group);

 private:
  const model::Dataset& data_;
  csv::Problems& problems_;
  const std::string folder_;
  std::map<std::pair<std::string, std::string>, std::vector<trace::FoundTrace>> traces_;  ///< By folder and run.
};

}  // namespace syscost::bench::commands
