// SPDX-License-Identifier: MIT
#include "extras/profilers/session/tracing.h"
#include "os/memory.h"

#include "extras/profilers/session/profiler_session.h"
#include "os/text.h"
#include "session/process/messages.h"

namespace syscost::session {

Result<void> Tracing::start() {
  return shared_.options.is_counting_process ? Result<void>() : open();
}

std::optional<int> Tracing::answer() {
  return shared_.options.lists_scripts ? std::optional(list_scripts(shared_.options)) : std::nullopt;
}

std::string Tracing::note() const {
  return is_on() ? ", traced by " + profilers_.text() : "";
}

Result<void> Tracing::open() {
  return is_on() ? Result<void>() : profilers_.start(shared_.options, shared_.run);
}

/// False, with a message, if they cannot be attached.
bool Tracing::attach() {
  Result<void> attached = profilers_.tools().attach();
  if (!attached.ok()) {
    shared_.recorder.note_problem(attached.failure());
    return false;
  }
  shared_.tools_epoch.fetch_add(1);
  return true;
}

/// False, with a message, if they had no output.
bool Tracing::detach(Findings& findings) {
  Result<void> detached = profilers_.tools().detach(findings);
  shared_.tools_epoch.fetch_add(1);
  if (!detached.ok()) shared_.recorder.note_problem(detached.failure());
  return detached.ok();
}

void Tracing::end_rows() {
  if (shared_.options.is_counting_process || !is_on() || shared_.tools_epoch.load() > 0 ||
      !shared_.recorder.problem().empty())
    return;
  say(names() + " measured nothing: there was no test and no loop, and it does not trace scopes");
}

// ---- a test ---------------------------------------------------------------------------------------------------------

void Tracing::prepare(OpenWindow& window) {
  if (window.kind != adapter::Kind::test || window.is_of_processes_below) return;
  shared_.recorder.enter_file();
  findings_.clear();
  is_whole_ = true;
  window.has_foreign_time = attach();
  // Attaching takes long, and scopes of other threads may have used it up.
  static_cast<void>(top_up_quiet_memory());
}

/// For a loop. If a scope is open around it, the tool stays attached, disarmed: the scope would be charged for stopping
/// it.
void Tracing::suspend(OpenWindow& window) {
  if (!window.has_foreign_time || !profilers_.tools().is_attached() || shared_.scopes.open_count() > 0) return;
  const Recorder::Lock guard = shared_.recorder.take_lock();
  shared_.recorder.enter_file();
  is_whole_ = detach(findings_) && is_whole_;
}

void Tracing::resume(OpenWindow& window) {
  if (!window.has_foreign_time || profilers_.tools().is_attached()) return;
  const Recorder::Lock guard = shared_.recorder.take_lock();
  shared_.recorder.enter_file();
  is_whole_ = attach() && is_whole_;
}

void Tracing::conclude(ClosedWindow& closed) {
  OpenWindow& window = closed.window;
  if (!window.has_foreign_time) return;
  shared_.recorder.enter_file();
  if (profilers_.tools().is_attached()) is_whole_ = detach(findings_) && is_whole_;
  // Incomplete numbers can only differ, and a message has named the missing part already.
  const TracedWindow traced =
      profilers_.conclude(std::exchange(findings_, {}), {"test " + window.test, profilers_.folder_of(window)},
                          is_whole_ ? closed.cost.get() : nullptr, shared_.run.backend, closed.framework_writes);
  add_rows(closed.columns, traced);
  // They name processes, files and functions of others.
  for (const std::string& line : traced.lines) closed.lines.push_back(printable(line));
  closed.remark += ", traced by " + names() + ": no times";
}

// ---- a loop's pass --------------------------------------------------------------------------------------------------

bool Tracing::begin_pass(std::string_view loop) {
  if (shared_.scopes.open_count() > 0) {
    say("loop " + std::string(loop) + " is not traced: a scope is open around it or on another thread, and would " +
        "include the cost of starting " + names() + "; end the scope before the loop");
    return false;
  }
  const Recorder::Lock guard = shared_.recorder.take_lock();
  shared_.recorder.enter_file();
  return attach();
}

bool Tracing::end_pass() {
  const Recorder::Lock guard = shared_.recorder.take_lock();
  shared_.recorder.enter_file();
  of_pass_.clear();
  return detach(of_pass_);
}

std::vector<std::string> Tracing::conclude_pass(csv::WindowColumns columns, const detail::CostData* counted) {
  std::string spoken = "loop " + std::string(columns.window);
  const std::string name = spoken;
  Result<std::string> parent = std::string();
  if (shared_.window.has_value()) {
    OpenWindow& window = *shared_.window;
    columns.test = window.test;
    columns.parent = window.name;
    if (!window.test.empty()) spoken += " of " + window.test;
    parent = profilers_.folder_of(window);
  }
  const Result<std::string> folder = parent.ok() ? profilers_.make_folder(parent.value(), name) : parent;
  const TracedWindow traced =
      profilers_.conclude(std::exchange(of_pass_, {}), {spoken, folder}, counted, shared_.run.backend);
  add_rows(columns, traced);
  return traced.lines;
}

// ---- times of a GPU that no tool took -------------------------------------------------------------------------------

void Tracing::add_gpu_kernel_times(const std::vector<profilers::TimeFigure>& times,
                                   std::optional<std::uint64_t> repetition) {
  csv::WindowColumns columns;
  if (shared_.window.has_value()) {
    columns.test = shared_.window->test;
    columns.parent = shared_.window->name;
  }
  add_gpu_kernel_rows(shared_.recorder, columns, times, [&](const std::string& window, std::size_t count) {
    return repetition.has_value() ? *repetition : take_gpu_kernel_repetitions(window, count);
  });
}

// ---- rows -----------------------------------------------------------------------------------------------------------

void Tracing::add_rows(const csv::WindowColumns& columns, const TracedWindow& traced) {
  add_gpu_kernel_rows(shared_.recorder, columns, traced.times, [this](const std::string& window, std::size_t count) {
    return take_gpu_kernel_repetitions(window, count);
  });
  for (const csv::ToolWindow& rows : traced.rows) shared_.recorder.add(columns, rows);
  for (const std::string& difference : traced.differences) say(difference);
  for (const Failure& problem : traced.problems) shared_.recorder.note_problem(problem);
}

}  // namespace syscost::session
