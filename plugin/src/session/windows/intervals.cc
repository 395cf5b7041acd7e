// SPDX-License-Identifier: MIT
#include "session/windows/intervals.h"

#include <memory>

#include "session/windows/open_window.h"
#include "session/windows/usage.h"
#include "syscost/schema.h"

namespace syscost::session {

void Intervals::begin() {
  OpenBackend* const opened = shared_.window->opened;
  if (opened == nullptr) return;
  start_ns_ = monotonic_ns();
  running_ = opened->book.open(Reach::process);
}

void Intervals::next() {
  if (running_ == nullptr) return;
  OpenBackend& opened = *shared_.window->opened;
  const std::shared_ptr<detail::CostData> cost = opened.new_cost();
  const std::uint64_t end_ns = monotonic_ns();
  running_ = opened.book.replace(running_, *cost);
  write_row(*cost, end_ns);
}

void Intervals::end() {
  if (running_ == nullptr) return;
  OpenBackend& opened = *shared_.window->opened;
  const std::shared_ptr<detail::CostData> cost = opened.new_cost();
  const std::uint64_t end_ns = monotonic_ns();
  opened.book.close(running_, *cost);
  running_ = nullptr;
  write_row(*cost, end_ns);
}

void Intervals::write_row(detail::CostData& cost, std::uint64_t end_ns) {
  // The table has this process's own calls.
  cost.table.clear();
  for (const auto& [program, table] : cost.children) cost.table.merge(table);
  cost.children.clear();
  csv::WindowColumns columns;
  columns.kind = schema::kKindInterval;
  columns.test = shared_.window->test;
  columns.repetition = count_++;
  columns.wall_ns = end_ns - start_ns_;
  columns.overhead_estimate_ns = shared_.window->opened->overhead_estimate_ns(cost);
  start_ns_ = end_ns;
  const Recorder::Lock guard = shared_.recorder.take_lock();
  shared_.recorder.add(columns, &cost, shared_.window->opened->capabilities);
  shared_.recorder.write("an interval");
}

}  // namespace syscost::session
