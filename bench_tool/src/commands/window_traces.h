// SPDX-License-Identifier: MIT
//
// WindowTraces: finds the trace that a window of a CSV left, or the scheduler's events.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"
#include "model/group.h"
#include "trace/find_traces.h"
#include "trace/sched_file.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {

/// The name of a window as the plugin's folders have it.
std::string folder_name(const model::Dataset& data, const model::Sample& sample);

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
