// SPDX-License-Identifier: MIT
#include "session/windows/row_writer.h"

#include <memory>
#include <string>

#include "os/quiet_memory.h"
#include "session/process/messages.h"
#include "session/windows/report_line.h"

namespace syscost::session {

RowWriter::Lock RowWriter::take_lock(const ScopeRecord* scope) {
  if (!lock_.try_lock()) {
    lock_.lock(shared_.scopes.is_inside_another(scope) ? WritingLock::Waiter::inside_window
                                                       : WritingLock::Waiter::outside_window);
  }
  return {lock_, std::adopt_lock};
}

RowWriter::Lock RowWriter::take_lock_inside_window() {
  lock_.lock(WritingLock::Waiter::inside_window);
  return {lock_, std::adopt_lock};
}

RowWriter::Lock RowWriter::take_lock_within_a_second() {
  if (!lock_.lock_within_a_second()) return {lock_, std::defer_lock};
  return {lock_, std::adopt_lock};
}

void RowWriter::write(std::string_view window) {
  enter_file();
  const ScopeRows waiting = shared_.scopes.take_rows();
  for (const ScopeRow& row : waiting.rows) add_scope_row(row);
  if (waiting.not_kept > 0) {
    shared_.recorder.note_problem({std::to_string(waiting.not_kept) +
                                       " rows of named scopes are missing, closed last in " + std::string(window) +
                                       ": too many waited for its end",
                                   "name fewer scopes in one test (at most " + std::to_string(ScopeRecords::kMaxRows) +
                                       "), e.g. one around the loop instead of one in it"});
  }
  shared_.recorder.write(window);
}

void RowWriter::write_loop(std::string_view loop) {
  const Lock guard = take_lock();
  enter_file();
  shared_.recorder.write(loop);
  static_cast<void>(top_up_quiet_memory());
}

void RowWriter::finish() {
  const Lock guard = take_lock();
  write("scopes");
}

void RowWriter::conclude() {
  // A signal handler may have called exit() while its own thread was writing. That write never ends.
  const Lock guard = take_lock_within_a_second();
  if (!guard.owns_lock()) {
    shared_.recorder.note_problem({"the process ended while rows were being written, so some are missing",
                                   "do not call exit() in a signal handler"});
    return;
  }
  write("scopes");
  shared_.recorder.conclude();
}

/// Moves a closed scope's row to the recorder. In a program without a test framework, also prints a line for it.
void RowWriter::add_scope_row(const ScopeRow& row) {
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
    shared_.recorder.add(columns, nullptr, opened.capabilities);
    return;
  }
  // Losses that were found while the row waited may have happened in the scope.
  const std::shared_ptr<const detail::CostData> cost =
      opened.with_losses(row.cost, opened.hidden_losses(row.reach) - row.hidden_losses_before);
  if (!row.is_traced) columns.overhead_estimate_ns = opened.overhead_estimate_ns(*cost);
  shared_.recorder.add(columns, cost.get(), can);
  if (shared_.prints_scopes()) say("scope " + std::string(row.name) + ": " + report_line(*cost, row.wall_ns));
}

}  // namespace syscost::session
