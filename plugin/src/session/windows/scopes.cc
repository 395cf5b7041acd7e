// SPDX-License-Identifier: MIT
#include "session/windows/scopes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/cost_data.h"
#include "core/selector.h"
#include "core/syscall_table.h"
#include "os/memory.h"
#include "session/windows/backend_holder.h"
#include "session/windows/between_and_intervals.h"
#include "session/windows/open_window.h"

namespace syscost::session {

ScopeRecord* Scopes::open(std::string_view name, Reach reach, Cost& cost) {
  if (shared_.is_fork_child()) {
    cost = unavailable_cost::fork_child();
    return nullptr;
  }
  OpenBackend* opened = shared_.backend.current();
  if (opened == nullptr) {
    cost = Cost(*shared_.backend.why_not());
    return nullptr;
  }
  ScopeRecord* scope = shared_.scopes.begin(name);
  // No window is armed on any thread while the backend is off, so this may make syscalls.
  if (shared_.is_backend_detached.load() && !attach_backend_()) {
    shared_.scopes.end(scope, false, nullptr, 0);
    cost = unavailable_cost::timed_pass();
    return nullptr;
  }
  scope->opened = opened;
  cost = unavailable_cost::pending();
  // Wait for a thread that writes rows: its calls are not part of the scope.
  Recorder::Lock guard;
  if (reach == Reach::process) {
    const bool counts_waiting = shared_.counts_between() != nullptr;
    guard = counts_waiting ? shared_.recorder.take_lock_inside_window() : shared_.recorder.take_lock(scope);
  }
  scope->reach = reach;
  scope->hidden_losses_before = opened->hidden_losses(reach);
  scope->tools_epoch_before = shared_.tools_epoch.load();
  scope->start_ns = monotonic_ns();
  scope->book_window = opened->book.open(reach);
  if (scope->book_window != nullptr) return scope;
  shared_.scopes.end(scope, false, nullptr, 0);
  cost = opened->no_lane;
  return nullptr;
}

Cost Scopes::close(ScopeRecord* scope) {
  // A fork child leaves its copy of the record alone.
  if (shared_.is_fork_child()) return unavailable_cost::fork_child();
  OpenBackend& opened = *scope->opened;
  std::uint64_t end_ns = opened.clock_is_quiet ? monotonic_ns() : 0;
  std::shared_ptr<detail::CostData> cost = opened.new_cost();
  opened.book.close(scope->book_window, *cost);
  if (!opened.clock_is_quiet) end_ns = monotonic_ns();
  const bool wants_row = !scope->name.empty() && (shared_.recorder.has_csv() || shared_.prints_scopes());
  if (cost->segments() != nullptr) {
    shared_.slices.add(scope->name.empty() ? std::string_view("measure") : scope->name, scope->start_ns, end_ns, cost);
  }
  const Reach reach = scope->reach;
  const std::uint64_t hidden_before = scope->hidden_losses_before;
  const std::uint64_t tracing = shared_.tools_epoch.load();
  const bool was_observed = tracing != scope->tools_epoch_before || tracing % 2 != 0;
  shared_.scopes.end(scope, wants_row, cost, end_ns - scope->start_ns, was_observed);

  if (shared_.is_idle()) {
    const WorkBetween work(shared_);
    const Recorder::Lock guard = shared_.recorder.take_lock();
    // A thread that opens a window sets has_window before it waits for this lock.
    if (shared_.is_idle()) {
      Result<void> checked = shared_.backend.current() == &opened ? shared_.backend.check(opened) : Result<void>();
      if (!checked.ok()) shared_.recorder.note_problem(checked.failure());
      shared_.recorder.write("scopes");
      static_cast<void>(top_up_quiet_memory());
    }
  }
  if (!opened.is_intact.load(std::memory_order_acquire)) {
    return Cost(Unavailable{"The backend was disabled while the scope was open, so its counts would be too low.",
                            "Do not close file descriptors that the test did not open."});
  }
  return Cost(opened.with_losses(std::move(cost), opened.hidden_losses(reach) - hidden_before));
}

}  // namespace syscost::session
