// SPDX-License-Identifier: MIT
//
// Scopes: the bookkeeping of syscost::Scope, done inside somebody's window.
//
// A scope opens and closes in the middle of a test, so nothing here may enter the kernel: memory is quiet memory, locks
// spin, and a named scope's row is kept until the session may write.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cost_data.h"
#include "core/spin_lock.h"
#include "session/instrument.h"

namespace syscost::session {

/// One open scope.
struct ScopeRecord {
  explicit ScopeRecord(std::pmr::memory_resource& memory) : name(&memory) {}

  std::pmr::string name;  ///< Empty = no row.
  Opened* opened = nullptr;
  WindowBook::Window* handle = nullptr;
  std::uint64_t start_ns = 0;
  const void* thread = nullptr;  ///< Says which thread opened it.
};

/// A closed scope whose row waits.
struct ScopeRow {
  explicit ScopeRow(std::pmr::memory_resource& memory) : test(&memory), name(&memory), parent(&memory) {}

  std::pmr::string test;
  std::pmr::string name;
  std::pmr::string parent;
  std::uint64_t repetition = 0;
  std::uint64_t wall_ns = 0;
  Opened* opened = nullptr;
  std::shared_ptr<const detail::CostData> cost;
};

/// Thread-safe. Makes no syscall while `memory` makes none.
class Scopes {
 public:
  explicit Scopes(std::pmr::memory_resource& memory) : memory_(memory) {}

  ScopeRecord* begin(std::string_view name);
  /// Forgets the scope. Its name is that of a row when `wants_row`.
  void end(ScopeRecord* scope, bool wants_row, std::shared_ptr<const detail::CostData> cost, std::uint64_t wall_ns);

  /// The window scopes are in from now on: a test's name and its window's; both empty outside.
  void set_enclosing(std::string_view test, std::string_view window);

  int open_count() const { return open_count_.load(std::memory_order_acquire); }
  bool has_rows();
  /// The rows that waited, oldest first.
  std::pmr::vector<ScopeRow> take_rows();

 private:
  using Key = std::pair<std::pmr::string, std::pmr::string>;

  std::string_view enclosing_name(std::pmr::list<ScopeRecord>::iterator scope) const;

  std::pmr::memory_resource& memory_;
  SpinLock lock_;
  std::atomic<int> open_count_{0};
  std::pmr::list<ScopeRecord> open_{&memory_};  // oldest first
  std::pmr::vector<ScopeRow> rows_{&memory_};
  std::pmr::map<Key, std::uint64_t> repetitions_{&memory_};  // of (test, scope) so far
  std::pmr::string test_{&memory_};
  std::pmr::string window_{&memory_};
};

}  // namespace syscost::session
