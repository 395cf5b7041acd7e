// SPDX-License-Identifier: MIT
#include "session/scopes.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace syscost::session {
namespace {

/// Its address tells threads apart. Initial-exec: the other TLS model allocates at a thread's first access.
thread_local char t_self __attribute__((tls_model("initial-exec")));

}  // namespace

ScopeRecord* Scopes::begin(std::string_view name) {
  std::lock_guard guard(lock_);
  ScopeRecord& scope = open_.emplace_back(memory_);
  scope.name = name;
  scope.thread = &t_self;
  open_count_.fetch_add(1, std::memory_order_acq_rel);
  return &scope;
}

/// The name of the nearest scope that the same thread opened before `scope`, else the enclosing window's.
std::string_view Scopes::enclosing_name(std::pmr::list<ScopeRecord>::iterator scope) const {
  for (auto outer = scope; outer != open_.begin();) {
    --outer;
    if (outer->thread == scope->thread && !outer->name.empty()) return outer->name;
  }
  return window_;
}

void Scopes::end(ScopeRecord* scope, bool wants_row, std::shared_ptr<const detail::CostData> cost,
                 std::uint64_t wall_ns) {
  std::lock_guard guard(lock_);
  auto at = std::find_if(open_.begin(), open_.end(), [&](const ScopeRecord& open) { return &open == scope; });
  if (wants_row) {
    ScopeRow& row = rows_.emplace_back(memory_);
    row.test = test_;
    row.name = scope->name;
    row.parent = enclosing_name(at);
    row.repetition = repetitions_[Key(std::pmr::string(test_, &memory_), std::pmr::string(scope->name, &memory_))]++;
    row.wall_ns = wall_ns;
    row.opened = scope->opened;
    row.cost = std::move(cost);
  }
  open_.erase(at);
  open_count_.fetch_sub(1, std::memory_order_acq_rel);
}

void Scopes::set_enclosing(std::string_view test, std::string_view window) {
  std::lock_guard guard(lock_);
  test_ = test;
  window_ = window;
}

bool Scopes::has_rows() {
  std::lock_guard guard(lock_);
  return !rows_.empty();
}

std::pmr::vector<ScopeRow> Scopes::take_rows() {
  std::lock_guard guard(lock_);
  return std::exchange(rows_, std::pmr::vector<ScopeRow>(&memory_));
}

}  // namespace syscost::session
