// SPDX-License-Identifier: MIT
//
// ProfilerSession: turns a window that tools beside us observe into files, rows, lines, and a comparison with our
// count.
//
// A window is traced or timed, never both. While a tool is attached every call takes longer. So the times of such a
// window reach no column of times, except the tool's own histogram, under its own origin. Times on a GPU have rows of
// their own kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost_data.h"
#include "csv/window_rows.h"
#include "extras/profilers/profiler.h"
#include "extras/profilers/session/artifacts.h"
#include "extras/profilers/session/tools.h"
#include "session/windows/recorder.h"

namespace syscost::session {

/// The folder for the tools' files: --syscost_artifacts, or `syscost_artifacts` beside the CSV, or else where the
/// program was started.
Result<std::string> artifacts_root(const Options& options);
/// The program's folder in it, for this run.
Result<Artifacts> open_artifacts(const Options& options, const csv::RunColumns& run);
/// `bpftrace syslat, perf`.
std::string describe_tools(const Options& options);

/// The results of one traced window.
struct TracedWindow {
  std::vector<csv::ToolWindow> rows;  ///< For each tool that has figures of syscalls.
  std::vector<profilers::TimeFigure> times;
  std::vector<std::string> lines;        ///< For people.
  std::vector<std::string> differences;  ///< From our count, a sentence each.
  std::vector<Failure> problems;         ///< Must make the run end non-zero.
};

/// The folder of a traced window's files, and the window's name in messages.
struct TracedName {
  std::string spoken;  ///< "test Suite.Test", "loop flush of test Suite.Test"
  Result<std::string> folder;
};

/// Not thread-safe, but for arm() and disarm().
class ProfilerSession {
 public:
  explicit ProfilerSession(ToolOpener opener) : opener_(std::move(opener)) {}

  /// Opens the tools, tests them, and makes the folder for their files. Fails with cause and fix.
  Result<void> start(const Options& options, const csv::RunColumns& run);
  bool is_on() const { return tools_.any(); }
  /// `bpftrace syslat, perf (FOLDER)`.
  const std::string& text() const { return text_; }
  /// `bpftrace`, `bpftrace and perf`.
  std::string names() const { return tools_.names(); }
  /// Makes the folder of a window: inside `parent`, or inside the program's folder if `parent` is empty.
  Result<std::string> make_folder(const std::string& parent, std::string_view name) const {
    return artifacts_->make_folder(parent, name);
  }
  /// Of a window; makes it when it is first needed.
  Result<std::string> folder_of(OpenWindow& window) const { return artifacts_->folder_of(window); }

  Tools& tools() { return tools_; }
  const Tools& tools() const { return tools_; }

  /// Writes the files, makes the rows, compares. `counted` has the process's counts of the same window; null if nothing
  /// counted. `framework_writes` is as in adapter::close_window(); they are removed from the rows only.
  TracedWindow conclude(Findings findings, const TracedName& name, const detail::CostData* counted,
                        std::string_view backend, int framework_writes = 0);

 private:
  void write_files(const Findings& findings, const TracedName& name, const detail::CostData* counted,
                   std::string_view backend, TracedWindow& traced);
  void look_at(const profilers::Output& output, const TracedName& name, const detail::CostData* counted,
               TracedWindow& traced) const;

  ToolOpener opener_;
  Tools tools_;
  std::string text_;
  std::optional<Artifacts> artifacts_;
  bool has_failed_to_write_ = false;
};

// Rows of kind `gpu_kernel`: what a tool, or a GPU kernel's stamps (decision 0017), timed on a GPU.

/// The first of `count` repetitions of a row's window.
using TakeRepetitions = std::function<std::uint64_t(const std::string& window, std::size_t count)>;

/// Adds the rows of `times` to `recorder`. `traced` has the columns of the window that they were taken in; a loop's
/// name comes before the names of its times.
void add_gpu_kernel_rows(Recorder& recorder, const csv::WindowColumns& traced,
                         const std::vector<profilers::TimeFigure>& times, const TakeRepetitions& take_repetitions);

}  // namespace syscost::session
