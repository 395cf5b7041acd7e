// SPDX-License-Identifier: MIT
//
// Recorder: writes rows into the CSV, and remembers everything that went wrong.
//
// If the disk fills up while tests run, no test's verdict may change, but the run must not end as if its CSV were
// whole. So the recorder prints the first failure, remembers each one, and the tests go on.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "csv/sink.h"
#include "csv/window_rows.h"
#include "os/result.h"

namespace syscost::session {

/// What lost events mean for the run.
enum class LossRule {
  ignored,   ///< They are data: the user requested nothing, or the adapter prints them itself (decision 0013).
  accepted,  ///< A message.
  refused,   ///< A message, and a problem of the run: it ends non-zero.
};

/// Not thread-safe. Makes syscalls: between windows only.
class Recorder {
 public:
  void set_loss_rule(LossRule rule) { loss_rule_ = rule; }

  /// Opens the CSV at the absolute path `path`.
  Result<void> open_csv(const std::string& path);
  bool has_csv() const { return sink_.has_value(); }
  /// Empty without a CSV.
  std::string csv_path() const { return sink_.has_value() ? sink_->path() : std::string(); }

  /// The columns of every row that follows. The run's own row goes before the next window's.
  void set_run(const csv::RunColumns& run);

  /// Keeps a window's rows for the next write().
  void add(const csv::WindowColumns& window, const detail::CostData* cost, const Capabilities& capabilities);
  /// Keeps the rows of a tool beside us for the same window.
  void add(const csv::WindowColumns& window, const csv::ToolWindow& tool);
  /// Writes the kept rows into the file, with one write. `window` names them in the message of a failure. While another
  /// process holds the file's lock, the rows stay kept, and one message says so.
  void write(std::string_view window);
  /// The same at the end of the process: rows that cannot be written are lost, and that is a problem of the run.
  void conclude();

  /// Prints `failure` and remembers it as the run's problem; each failure once.
  void note_problem(const Failure& failure);
  /// All problems, in one line; empty if there are none.
  std::string problem() const;

 private:
  void say_that_rows_wait(Failure failure);
  void add_run_row();
  void judge_losses(const csv::WindowColumns& window, const detail::CostData& cost);

  std::optional<csv::Sink> sink_;
  std::optional<csv::WindowRows> rows_;
  std::string pending_;
  std::string run_id_;
  bool has_run_row_ = false;
  bool has_said_that_rows_wait_ = false;
  std::string first_problem_;
  std::set<std::string> said_;
  LossRule loss_rule_ = LossRule::ignored;
  bool has_told_of_losses_ = false;
  int problems_ = 0;
  int unwritten_windows_ = 0;
};

}  // namespace syscost::session
