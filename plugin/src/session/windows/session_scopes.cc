// SPDX-License-Identifier: MIT
//
// The session's scopes: they open and close inside windows, on any thread, and their rows are written between windows.
#include <mutex>
#include <string>
#include <utility>

#include "os/quiet_memory.h"
#include "session/process/messages.h"
#include "session/windows/report_line.h"
#include "session/windows/session.h"
#include "session/windows/unavailable_costs.h"

namespace syscost::session {

/// Waits for whoever writes rows. `scope` is the calling thread's own that is about to open, if any.
std::unique_lock<WritingLock> Session::wait_for_rows(const ScopeRecord* scope) {
  if (!writing_.try_lock()) {
    writing_.lock(scopes_.is_inside_another(scope) ? WritingLock::Waiter::inside_window
                                                   : WritingLock::Waiter::outside_window);
  }
  return {writing_, std::adopt_lock};
}

ScopeRecord* Session::open_scope(std::string_view name, Reach reach, Cost& cost) {
  if (is_fork_child()) {
    cost = fixed_cost::fork_child();
    return nullptr;
  }
  OpenBackend* opened = backend_.current();
  if (opened == nullptr) {
    cost = Cost(*backend_.why_not());
    return nullptr;
  }
  ScopeRecord* scope = scopes_.begin(name);
  if (is_taken_off_.load()) {
    scopes_.end(scope, false, nullptr, 0);
    cost = fixed_cost::timed_pass();
    return nullptr;
  }
  scope->opened = opened;
  cost = fixed_cost::pending();
  // Rows that another thread is writing at this moment are not the scope's.
  std::unique_lock<WritingLock> guard;
  if (reach == Reach::process) guard = wait_for_rows(scope);
  scope->reach = reach;
  scope->hidden_losses_before = opened->hidden_losses(reach);
  scope->tracing_before = tracing_.load();
  scope->start_ns = monotonic_ns();
  scope->handle = opened->book.open(reach);
  if (scope->handle != nullptr) return scope;
  scopes_.end(scope, false, nullptr, 0);
  cost = opened->no_lane;
  return nullptr;
}

Cost Session::close_scope(ScopeRecord* scope) {
  // A child's copy of the record is left alone, like everything else it inherited.
  if (is_fork_child()) return fixed_cost::fork_child();
  OpenBackend& opened = *scope->opened;
  std::uint64_t end_ns = opened.clock_is_quiet ? monotonic_ns() : 0;
  std::shared_ptr<detail::CostData> cost = opened.new_cost();
  opened.book.close(scope->handle, *cost);
  if (!opened.clock_is_quiet) end_ns = monotonic_ns();
  const bool wants_row = !scope->name.empty() && (recorder_.has_csv() || prints_scopes());
  const Reach reach = scope->reach;
  const std::uint64_t hidden_before = scope->hidden_losses_before;
  const std::uint64_t tracing = tracing_.load();
  const bool is_traced = tracing != scope->tracing_before || tracing % 2 != 0;
  scopes_.end(scope, wants_row, cost, end_ns - scope->start_ns, is_traced);

  if (is_idle()) {
    const std::unique_lock guard = wait_for_rows(nullptr);
    // Whoever opens a window says so before it waits for this lock.
    if (is_idle()) {
      Result<void> checked = backend_.current() == &opened ? backend_.check(opened) : Result<void>();
      if (!checked.ok()) recorder_.note_problem(checked.failure());
      write_rows("scopes");
      static_cast<void>(top_up_quiet_memory());
    }
  }
  if (!opened.is_intact.load(std::memory_order_acquire)) {
    return Cost(Unavailable{"The backend was disabled while the scope was open, so its counts would be too low.",
                            "Do not close file descriptors that the test did not open."});
  }
  return Cost(opened.with_losses(std::move(cost), opened.hidden_losses(reach) - hidden_before));
}

void Session::finish() {
  if (is_fork_child() || !is_started()) return;
  const std::unique_lock guard = wait_for_rows(nullptr);
  write_rows("scopes");
}

void Session::conclude() {
  if (is_fork_child() || !is_started()) return;
  // A signal handler may have called exit() while its own thread was writing: that never ends.
  if (!writing_.lock_within_patience()) {
    recorder_.note_problem({"the process ended while rows were being written, so some are missing",
                            "do not call exit() in a signal handler"});
    return;
  }
  const std::lock_guard guard(writing_, std::adopt_lock);
  write_rows("scopes");
  recorder_.conclude();
}

/// True when no window of ours is open on any thread.
bool Session::is_idle() const {
  return !has_window_.load(std::memory_order_acquire) && !in_loop_.load() && scopes_.open_count() == 0;
}

/// Brings the rows that wait into the file, those of `window` and those of closed scopes.
void Session::write_rows(std::string_view window) {
  writing_.enter_file();
  const ScopeRows waiting = scopes_.take_rows();
  for (const ScopeRow& row : waiting.rows) add_scope_row(row);
  if (waiting.not_kept > 0) {
    recorder_.note_problem({std::to_string(waiting.not_kept) + " rows of named scopes are missing, closed last in " +
                                std::string(window) + ": too many waited for its end",
                            "name fewer scopes in one test (at most " + std::to_string(Scopes::kMaxRows) +
                                "), e.g. one around the loop instead of one in it"});
  }
  recorder_.write(window);
}

/// Moves a closed scope's row to the recorder, and prints it where no framework has tests to print under.
void Session::add_scope_row(const ScopeRow& row) {
  csv::WindowColumns columns;
  columns.kind = "scope";
  columns.test = row.test;
  columns.window = row.name;
  columns.parent = row.parent;
  columns.repetition = row.repetition;
  if (!row.is_traced) columns.wall_ns = row.wall_ns;
  const OpenBackend& opened = *row.opened;
  Capabilities can = opened.capabilities;
  can.latency = can.latency && !row.is_traced;
  if (!opened.is_intact.load(std::memory_order_acquire)) {
    recorder_.add(columns, nullptr, opened.capabilities);
    return;
  }
  // The row waited; what was found out since may have happened in it.
  const std::shared_ptr<const detail::CostData> cost =
      opened.with_losses(row.cost, opened.hidden_losses(row.reach) - row.hidden_losses_before);
  if (!row.is_traced) columns.overhead_estimate_ns = opened.overhead_estimate_ns(*cost);
  recorder_.add(columns, cost.get(), can);
  if (prints_scopes()) say("scope " + std::string(row.name) + ": " + report_line(*cost, row.wall_ns));
}

}  // namespace syscost::session
