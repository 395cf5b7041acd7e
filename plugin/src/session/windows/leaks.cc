// SPDX-License-Identifier: MIT
#include "session/windows/leaks.h"

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "os/memory.h"

namespace syscost::session {
namespace {

/// With a filter, calls that map memory may not be counted.
Backend* notes_mapped(const OpenWindow& window, const Measurement& shared) {
  const bool sees_all = window.opened != nullptr && shared.options.filter == nullptr;
  return sees_all ? window.opened->backend.get() : nullptr;
}

/// The most that was mapped in the window above what was mapped when it began, as far as its counted calls and its end
/// say. Empty: some calls were not seen.
std::optional<std::uint64_t> peak_after_calls(const OpenWindow& window, const OpenThings& after, const LeftOpen& left,
                                              const detail::CostData* cost) {
  if (!window.most_mapped.has_value() || !left.mapped_bytes.has_value()) return {};
  if (cost == nullptr || cost->lost + cost->late > 0) return {};
  const std::uint64_t most = *window.most_mapped;
  // More than the process ever had: another file has had the number of ours.
  if (most > after.mapped_at_begin->most_bytes) return {};
  const std::uint64_t at_begin = window.open_before->mapped_at_end->bytes;
  return std::max(most > at_begin ? most - at_begin : 0, *left.mapped_bytes);
}

bool is_set_up(const OpenWindow& window) {
  return window.kind != adapter::Kind::test && window.name == "set-up";
}

}  // namespace

void Leaks::begin(OpenWindow& window, Measurement& shared) {
  // It may map memory, which is not the window's.
  const StackSource* const stacks = window.opened != nullptr ? window.opened->backend->stacks() : nullptr;
  if (stacks != nullptr) stacks->begin_openers();
  if (Backend* const backend = notes_mapped(window, shared)) backend->prepare_mapped_peak();
  Result<OpenThings> now = OpenThings::now();
  if (!now.ok()) return shared.recorder.note_problem(now.failure());
  window.open_before = std::move(now.value());
  for (auto& [owner, opened] : of_set_ups_) opened.keep_common(*window.open_before);
  if (window.kind == adapter::Kind::test || is_set_up(window)) return;
  // What the set-up opened is the tear-down's to close.
  const auto opened = of_set_ups_.find({window.kind, window.test});
  if (opened == of_set_ups_.end()) return;
  window.open_before->take_out(opened->second);
  of_set_ups_.erase(opened);
}

void Leaks::begin_calls(const OpenWindow& window, const Measurement& shared) {
  if (!window.open_before.has_value()) return;
  if (Backend* const backend = notes_mapped(window, shared)) backend->begin_mapped_peak();
}

void Leaks::end_calls(OpenWindow& window, const Measurement& shared) {
  if (!window.open_before.has_value()) return;
  if (Backend* const backend = notes_mapped(window, shared)) window.most_mapped = backend->end_mapped_peak();
}

std::optional<LeftOpen> Leaks::end(OpenWindow& window, const detail::CostData* cost, Measurement& shared) {
  if (!window.open_before.has_value()) return std::nullopt;
  Result<OpenThings> now = OpenThings::now();
  if (!now.ok()) {
    shared.recorder.note_problem(now.failure());
    return std::nullopt;
  }
  if (!is_set_up(window)) {
    LeftOpen left(*window.open_before, now.value());
    if (window.excluded.empty()) {
      name_openers(left, window.opened, shared);
      left.peak_mapped_bytes = std::max(left.peak_mapped_bytes, peak_after_calls(window, now.value(), left, cost));
    } else {
      // What a loop does is not counted by its calls.
      left.peak_mapped_bytes.reset();
    }
    return left;
  }
  now.value().take_out(*window.open_before);
  of_set_ups_.insert_or_assign({window.kind, window.test}, std::move(now.value()));
  return std::nullopt;
}

void name_openers(LeftOpen& left, const OpenBackend* opened, Measurement& shared) {
  const StackSource* const stacks = opened != nullptr ? opened->backend->stacks() : nullptr;
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
  shared.call_sites().look_up(*stacks, wanted);
  for (const auto& [stack, site] : found) {
    if (stack != 0) *site = shared.call_sites().site_of(*stacks, stack);
  }
}

}  // namespace syscost::session
