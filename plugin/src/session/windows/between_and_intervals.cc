// SPDX-License-Identifier: MIT
#include "session/windows/between_and_intervals.h"

#include <algorithm>
#include <memory>

#include "session/windows/open_window.h"
#include "session/windows/recorder.h"
#include "syscost/schema.h"

namespace syscost::session {
namespace {

/// True if each of these calls is known to be one of the thread that runs the tests.
bool is_of_one_thread(const detail::CostData& cost, const Capabilities& can) {
  if (!can.threads || !cost.measured.threads) return false;
  return std::all_of(cost.table.begin(), cost.table.end(), [](const CallTable::Entry& entry) {
    return entry.tally.by_started_threads + entry.tally.by_older_threads + entry.tally.carried_in == 0;
  });
}

}  // namespace

/// In a window it would be one of the calls that strace shows there.
void WorkBetween::mark(std::string_view text) const {
  if ((!shared_.has_window || shared_.is_paused) && !shared_.is_fork_child() && shared_.counts_between() != nullptr)
    shared_.write_marker(text);
}

void Between::begin() {
  OpenBackend* const opened = shared_.backend.current();
  const Options& options = shared_.options;
  // Their files have the calls of windows, one by one: there is no room for those of the whole process.
  if (opened == nullptr || opened_ != nullptr || !shared_.recorder.has_csv() || options.keeps_events()) return;
  const OwnCalls own(opened);
  if (!own.has_lane()) return;
  opened_ = opened;
  hidden_losses_before_ = opened->hidden_losses(Reach::process);
  shared_.write_marker("syscost-begin between");
  window_ = opened->book.open(Reach::process);
  shared_.between_opened.store(opened, std::memory_order_release);
}

void Between::stop() {
  if (window_ != nullptr) opened_->book.suspend(window_);
}

void Between::go_on() {
  if (window_ != nullptr) opened_->book.resume(window_);
}

void Between::end() {
  if (window_ == nullptr || shared_.counts_between() == nullptr) return;
  const std::shared_ptr<detail::CostData> cost = opened_->new_cost();
  opened_->book.close(window_, *cost);
  window_ = nullptr;
  shared_.write_marker("syscost-end between");
  shared_.between_opened.store(nullptr, std::memory_order_release);
  // The program may have closed all descriptors at its end, and then no one knows what was lost.
  const Result<std::uint64_t> hidden = opened_->backend->hidden_losses();
  if (!hidden.ok()) return;
  cost->lost += hidden.value() - hidden_losses_before_;
  cost->table.merge(of_framework_);
  const bool has_nothing = is_empty(cost->table) && cost->programs.empty() && cost->lost + cost->late == 0;
  if (has_nothing || !has_rested_) return;
  csv::WindowColumns columns;
  columns.kind = schema::kKindBetween;
  Capabilities can = opened_->capabilities;
  can.latency = false;
  columns.has_sum_alone = is_of_one_thread(*cost, can);
  shared_.recorder.add(columns, cost.get(), can);
}

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
  for (const auto& [program, table] : cost.programs) cost.table.merge(table);
  cost.programs.clear();
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
