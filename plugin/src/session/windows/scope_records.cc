// SPDX-License-Identifier: MIT
#include "session/windows/scope_records.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "os/memory.h"

namespace syscost::session {
namespace {

/// Its address identifies the thread. Initial-exec, because the other TLS model allocates at a thread's first access.
thread_local char t_self __attribute__((tls_model("initial-exec")));

}  // namespace

ScopeRecord* ScopeRecords::begin(std::string_view name) {
  std::lock_guard guard(lock_);
  ScopeRecord& scope = open_.emplace_back(memory_);
  scope.name = name;
  scope.thread = &t_self;
  open_count_.fetch_add(1, std::memory_order_acq_rel);
  return &scope;
}

/// The name of the nearest scope that the same thread opened before `scope`, else the enclosing window's.
std::string_view ScopeRecords::enclosing_name(std::pmr::list<ScopeRecord>::iterator scope) const {
  for (auto outer = scope; outer != open_.begin();) {
    --outer;
    if (outer->thread == scope->thread && !outer->name.empty()) return outer->name;
  }
  return window_;
}

/// How often the enclosing test had a scope of that name before. A new name takes memory.
std::uint64_t ScopeRecords::next_repetition(const std::pmr::string& scope, bool has_room) {
  const Key key(std::pmr::string(test_, &memory_), std::pmr::string(scope, &memory_));
  if (auto known = repetitions_.find(key); known != repetitions_.end()) return known->second++;
  if (has_room) repetitions_.emplace(key, 1);
  return 0;
}

void ScopeRecords::end(ScopeRecord* scope, bool wants_row, std::shared_ptr<const detail::CostData> cost,
                       std::uint64_t wall_ns, bool was_observed) {
  std::lock_guard guard(lock_);
  auto at = std::find_if(open_.begin(), open_.end(), [&](const ScopeRecord& open) { return &open == scope; });
  if (wants_row) {
    const bool has_room = rows_.size() < kMaxRows && !is_quiet_memory_scarce();
    const std::uint64_t repetition = next_repetition(scope->name, has_room);
    if (has_room) {
      ScopeRow& row = rows_.emplace_back(memory_);
      row.test = test_;
      row.name = scope->name;
      row.parent = enclosing_name(at);
      row.repetition = repetition;
      row.wall_ns = wall_ns;
      row.was_observed = was_observed;
      row.opened = scope->opened;
      row.reach = scope->reach;
      row.hidden_losses_before = scope->hidden_losses_before;
      row.cost = std::move(cost);
    } else {
      ++not_kept_;
    }
  }
  open_.erase(at);
  open_count_.fetch_sub(1, std::memory_order_acq_rel);
}

void ScopeRecords::set_enclosing(std::string_view test, std::string_view window) {
  std::lock_guard guard(lock_);
  test_ = test;
  window_ = window;
}

bool ScopeRecords::is_inside_another(const ScopeRecord* scope) {
  std::lock_guard guard(lock_);
  return std::any_of(open_.begin(), open_.end(),
                     [&](const ScopeRecord& open) { return &open != scope && open.thread == &t_self; });
}

ScopeRows ScopeRecords::take_rows() {
  std::lock_guard guard(lock_);
  return {std::exchange(rows_, std::pmr::list<ScopeRow>(&memory_)), std::exchange(not_kept_, 0)};
}

}  // namespace syscost::session
