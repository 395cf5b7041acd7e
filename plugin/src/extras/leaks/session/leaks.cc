// SPDX-License-Identifier: MIT
#include "extras/leaks/session/leaks.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "extras/leaks/core/mapped_peak.h"
#include "extras/where/core/call_stack.h"
#include "extras/where/session/call_sites.h"
#include "os/memory.h"
#include "session/process/messages.h"

namespace syscost::session {
namespace {

bool is_set_up(const OpenWindow& window) {
  return window.kind != adapter::Kind::test && window.name == "set-up";
}

/// Sets the lines that opened or started what is left, if `opened` counts with --syscost_where. Makes syscalls. The
/// caller holds the lock of the recorder.
void name_openers(LeftOpen& left, const OpenBackend* opened, Measurement& shared) {
  const StackSource* const stacks = opened != nullptr ? opened->backend->extension<StackSource>() : nullptr;
  // A call that was not selected may have closed and opened the descriptor since.
  if (stacks == nullptr || shared.options.filter != nullptr || left.is_nothing()) return;
  std::pmr::vector<std::pair<std::uint32_t, std::string*>> found(&mapped_memory());
  for (LeftOpen::Descriptor& one : left.descriptors) found.emplace_back(stacks->opener_of(one.number), &one.site);
  for (LeftOpen::Started& one : left.threads) found.emplace_back(stacks->starter_of(one.id), &one.site);
  if (left.children.has_value()) {
    for (LeftOpen::Started& one : *left.children) found.emplace_back(stacks->starter_of(one.id), &one.site);
  }
  std::pmr::set<std::uint32_t> wanted(&mapped_memory());
  for (const auto& [stack, site] : found) wanted.insert(stack);
  wanted.erase(0);
  call_sites_of(shared).look_up(*stacks, wanted);
  for (const auto& [stack, site] : found) {
    if (stack != 0) *site = call_sites_of(shared).site_of(*stacks, stack);
  }
}

}  // namespace

/// With a filter, calls that map memory may not be counted.
MappedPeakMeter* Leaks::meter(const OpenWindow& window) const {
  const bool sees_all = window.opened != nullptr && shared_.options.filter == nullptr;
  return sees_all ? window.opened->backend->extension<MappedPeakMeter>() : nullptr;
}

/// The most that was mapped in the window above what was mapped when it began, as far as its counted calls and its end
/// say. Empty: some calls were not seen.
std::optional<std::uint64_t> Leaks::peak_after_calls(const OpenThings& after, const LeftOpen& left,
                                                     const detail::CostData* cost) const {
  if (!most_mapped_.has_value() || !left.mapped_bytes.has_value()) return {};
  if (cost == nullptr || cost->lost + cost->late > 0) return {};
  const std::uint64_t most = *most_mapped_;
  // More than the process ever had: another file has had the number of ours.
  if (most > after.mapped_at_begin->most_bytes) return {};
  const std::uint64_t at_begin = before_->mapped_at_end->bytes;
  return std::max(most > at_begin ? most - at_begin : 0, *left.mapped_bytes);
}

void Leaks::prepare(OpenWindow& window) {
  forget();
  if (window.is_of_processes_below) return;
  // It may map memory, which is not the window's.
  const StackSource* const stacks =
      window.opened != nullptr ? window.opened->backend->extension<StackSource>() : nullptr;
  if (stacks != nullptr) stacks->begin_openers();
  if (MappedPeakMeter* const peak = meter(window)) peak->prepare_mapped_peak();
  Result<OpenThings> now = OpenThings::now();
  if (!now.ok()) return shared_.recorder.note_problem(now.failure());
  before_ = std::move(now.value());
  for (auto& [owner, opened] : of_set_ups_) opened.keep_common(*before_);
  // No look-up for tests: it would allocate after the list was made.
  if (window.kind == adapter::Kind::test || is_set_up(window)) return;
  const auto opened = of_set_ups_.find({window.kind, window.test});
  if (opened == of_set_ups_.end()) return;
  // The set-up's things are the tear-down's to close.
  before_->take_out(opened->second);
  of_set_ups_.erase(opened);
}

void Leaks::begin(OpenWindow& window) noexcept {
  if (!before_.has_value()) return;
  if (MappedPeakMeter* const peak = meter(window)) peak->begin_mapped_peak();
}

/// Other threads' calls from now on are no window's.
void Leaks::read(OpenWindow& window) noexcept {
  if (!before_.has_value()) return;
  if (MappedPeakMeter* const peak = meter(window)) most_mapped_ = peak->end_mapped_peak();
}

void Leaks::end(OpenWindow& window, const detail::CostData* cost) {
  // Things that are open in the middle of a test are no leaks.
  if (!before_.has_value() || window.is_cut_off) return;
  Result<OpenThings> now = OpenThings::now();
  if (!now.ok()) return shared_.recorder.note_problem(now.failure());
  if (is_set_up(window)) {
    now.value().take_out(*before_);
    of_set_ups_.insert_or_assign({window.kind, window.test}, std::move(now.value()));
    return;
  }
  left_.emplace(*before_, now.value());
  if (window.excluded.empty()) {
    name_openers(*left_, window.opened, shared_);
    left_->peak_mapped_bytes = std::max(left_->peak_mapped_bytes, peak_after_calls(now.value(), *left_, cost));
  } else {
    // The calls do not count what a loop does.
    left_->peak_mapped_bytes.reset();
  }
}

/// Between windows the heap is the program's: kept lists would change where it ends.
void Leaks::forget() {
  before_.reset();
  most_mapped_.reset();
  left_.reset();
}

void Leaks::add_columns(ClosedWindow& closed) {
  if (left_.has_value()) add_left(closed);
  forget();
}

void Leaks::add_left(ClosedWindow& closed) const {
  const auto add = [&](schema::Column column, std::optional<std::uint64_t> number) {
    if (number.has_value()) closed.columns.added.emplace_back(column, std::to_string(*number));
  };
  add(schema::Column::kDescriptorsLeft, left_->descriptors.size());
  add(schema::Column::kThreadsLeft, left_->threads.size());
  if (left_->children.has_value()) add(schema::Column::kChildrenLeft, left_->children->size());
  add(schema::Column::kMappedBytesLeft, left_->mapped_bytes);
  add(schema::Column::kPeakMappedBytes, left_->peak_mapped_bytes);
  closed.columns.added.emplace_back(schema::Column::kLeftOpen, left_->list_text());
  if (left_->is_nothing()) return;
  closed.has_row = true;
  say(std::string(closed.spoken) + " left open: " + left_->text());
}

std::shared_ptr<const OpenThings> Leaks::open_things() {
  const OwnCalls own(shared_.is_fork_child() ? nullptr : shared_.backend.current());
  Result<OpenThings> now = OpenThings::now();
  return now.ok() ? std::make_shared<const OpenThings>(std::move(now.value())) : nullptr;
}

void Leaks::drop(std::shared_ptr<const void> things) {
  const OwnCalls own(shared_.is_fork_child() ? nullptr : shared_.backend.current());
  things.reset();
}

std::string Leaks::left_since(const OpenThings* before) {
  OpenBackend* const opened = shared_.is_fork_child() ? nullptr : shared_.backend.current();
  const OwnCalls own(opened);
  const Result<OpenThings> now = OpenThings::now();
  if (before == nullptr || !now.ok()) {
    return "n/a (" + (now.ok() ? std::string("/proc could not be read before") : now.failure().reason) + ")";
  }
  LeftOpen left(*before, now.value());
  if (shared_.options.leaks && opened != nullptr && !left.is_nothing()) {
    const Recorder::Lock guard = shared_.recorder.take_lock_inside_window();
    shared_.recorder.enter_file();
    name_openers(left, opened, shared_);
  }
  return left.text();
}

}  // namespace syscost::session
