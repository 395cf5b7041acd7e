// SPDX-License-Identifier: MIT
#include "session/windows/between.h"

#include <algorithm>
#include <memory>

#include "session/windows/report_line.h"
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
  const bool is_recorded = options.trace.wanted || options.scheduler.wanted;
  if (opened == nullptr || opened_ != nullptr || !shared_.recorder.has_csv() || is_recorded) return;
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
  const bool has_nothing = is_empty(cost->table) && cost->children.empty() && cost->lost + cost->late == 0;
  if (has_nothing || !has_rested_) return;
  csv::WindowColumns columns;
  columns.kind = schema::kKindBetween;
  Capabilities can = opened_->capabilities;
  can.latency = false;
  columns.has_sum_alone = is_of_one_thread(*cost, can);
  shared_.recorder.add(columns, cost.get(), can);
}

}  // namespace syscost::session
