// SPDX-License-Identifier: MIT
//
// The session's tools beside us: attached around a test and around one more pass of each loop, and nowhere else.
//
// Attaching takes long and enters the kernel, so it happens where no window is open; inside, arming and disarming are
// one store each. A loop's timed and counted passes never run under a tool: the test's is stopped before the loop and
// started again behind it.
#include <mutex>
#include <utility>

#include "os/quiet_memory.h"
#include "session/process/messages.h"
#include "session/windows/session.h"

namespace syscost::session {

Result<void> Session::start_tools() {
  return has_tools() ? Result<void>() : tracer_.start(options_, run_);
}

/// False, with a message, when they cannot be attached.
bool Session::begin_trace() {
  Result<void> attached = tracer_.tools().attach();
  if (!attached.ok()) {
    recorder_.note_problem(attached.failure());
    return false;
  }
  tracing_.fetch_add(1);
  return true;
}

/// False, with a message, when they could not say what they found.
bool Session::end_trace(Findings& findings) {
  Result<void> detached = tracer_.tools().detach(findings);
  tracing_.fetch_add(1);
  if (!detached.ok()) recorder_.note_problem(detached.failure());
  return detached.ok();
}

void Session::report_unused_tools() const {
  if (!has_tools() || tracing_.load() > 0 || !recorder_.problem().empty()) return;
  say(tracer_.names() + " measured nothing: there was no test and no loop, and it does not trace scopes");
}

/// For a loop. A scope around it would be charged with what stopping the tool takes: there it stays, disarmed.
void Session::suspend_trace(OpenWindow& window) {
  if (!window.is_traced || !tracer_.tools().is_attached() || scopes_.open_count() > 0) return;
  const std::unique_lock guard = wait_for_rows(nullptr);
  writing_.enter_file();
  window.is_trace_whole = end_trace(window.findings) && window.is_trace_whole;
}

void Session::resume_trace(OpenWindow& window) {
  if (!window.is_traced || tracer_.tools().is_attached()) return;
  const std::unique_lock guard = wait_for_rows(nullptr);
  writing_.enter_file();
  window.is_trace_whole = begin_trace() && window.is_trace_whole;
}

/// Of the test or set-up; made when it is needed.
Result<std::string> Session::folder_of(OpenWindow& window) {
  if (!window.folder.empty()) return window.folder;
  std::string name = window.test;
  if (!window.name.empty()) name += (name.empty() ? "" : " ") + window.name;
  if (window.repetition > 0) name += "." + std::to_string(window.repetition);
  Result<std::string> folder = tracer_.make_folder({}, name);
  if (folder.ok()) window.folder = folder.value();
  return folder;
}

/// What a tool timed on a GPU: rows of kind `kernel`, as those of stamps are (decision 0017).
void Session::time_rows(const csv::WindowColumns& columns, const TracedWindow& traced) {
  const std::string loop = columns.kind == "loop" ? "loop " + std::string(columns.window) + ": " : std::string();
  for (const profilers::TimeFigure& figure : traced.times) {
    const std::string window = loop + figure.name;
    csv::WindowColumns row;
    row.kind = "kernel";
    row.test = columns.test;
    row.window = window;
    row.parent = columns.parent;
    row.excluded = figure.note;
    row.repetition = take_loop_repetitions("kernel " + window, figure.rows.size());
    for (const profilers::TimeRow& time : figure.rows) {
      row.iterations = time.iterations;
      row.wall_ns = time.total_ns;
      recorder_.add(row, nullptr, {});
      ++row.repetition;
    }
  }
}

void Session::trace_rows(const csv::WindowColumns& columns, const TracedWindow& traced) {
  time_rows(columns, traced);
  for (const csv::ToolWindow& rows : traced.rows) recorder_.add(columns, rows);
  for (const std::string& difference : traced.differences) say(difference);
  for (const Failure& problem : traced.problems) recorder_.note_problem(problem);
}

/// Of a test whose window has just been closed. `counted` still holds the framework's own writes, as the tool's does.
std::vector<std::string> Session::conclude_trace(OpenWindow& window, const csv::WindowColumns& columns,
                                                 const detail::CostData* counted, int framework_writes) {
  writing_.enter_file();
  if (tracer_.tools().is_attached()) window.is_trace_whole = end_trace(window.findings) && window.is_trace_whole;
  // What is missing was said; numbers that are not whole can only differ.
  const TracedWindow traced =
      tracer_.conclude(std::move(window.findings), {"test " + window.test, folder_of(window)},
                       window.is_trace_whole ? counted : nullptr, run_.backend, framework_writes);
  trace_rows(columns, traced);
  return traced.lines;
}

bool Session::open_traced_pass(std::string_view loop, OpenBackend* opened, WindowBook::Window*& window) {
  window = nullptr;
  if (scopes_.open_count() > 0) {
    say("loop " + std::string(loop) + " is not traced: a scope is open around it or on another thread, and would " +
        "include the cost of starting " + tracer_.names() + "; end the scope before the loop");
    return false;
  }
  {
    const std::unique_lock guard = wait_for_rows(nullptr);
    writing_.enter_file();
    if (!begin_trace()) return false;
  }
  if (opened != nullptr) window = open_loop_window(*opened);
  tracer_.tools().arm();
  return true;
}

std::shared_ptr<detail::CostData> Session::close_traced_pass(OpenBackend* opened, WindowBook::Window* window,
                                                             Findings& findings) {
  tracer_.tools().disarm();
  std::shared_ptr<detail::CostData> cost = window != nullptr ? close_loop_window(*opened, window) : nullptr;
  const std::unique_lock guard = wait_for_rows(nullptr);
  writing_.enter_file();
  if (!end_trace(findings)) return nullptr;
  return cost;
}

std::vector<std::string> Session::add_loop_trace(csv::WindowColumns columns, Findings findings,
                                                 const detail::CostData* counted) {
  std::string spoken = "loop " + std::string(columns.window);
  const std::string name = spoken;
  Result<std::string> parent = std::string();
  if (window_.has_value()) {
    columns.test = window_->test;
    columns.parent = window_->name;
    if (!window_->test.empty()) spoken += " of " + window_->test;
    parent = folder_of(*window_);
  }
  const Result<std::string> folder = parent.ok() ? tracer_.make_folder(parent.value(), name) : parent;
  const TracedWindow traced = tracer_.conclude(std::move(findings), {spoken, folder}, counted, run_.backend);
  trace_rows(columns, traced);
  return traced.lines;
}

}  // namespace syscost::session
