// SPDX-License-Identifier: MIT
//
// ScopeRecords: the bookkeeping of syscost::Scope, done inside a window of the user's.
//
// A scope opens and closes in the middle of a test, so nothing here may enter the kernel: memory is quiet memory, locks
// spin, and a named scope's row is kept until the session may write.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>

#include "core/cost_data.h"
#include "os/spin_lock.h"
#include "session/windows/backend_holder.h"

namespace syscost::session {

/// One open scope.
struct ScopeRecord {
  explicit ScopeRecord(std::pmr::memory_resource& memory) : name(&memory) {}

  std::pmr::string name;  ///< Empty = no row.
  OpenBackend* opened = nullptr;
  WindowBook::Window* handle = nullptr;
  Reach reach = Reach::thread;
  std::uint64_t start_ns = 0;
  std::uint64_t tracing_before = 0;        ///< Session's account of tools when the scope opened.
  std::uint64_t hidden_losses_before = 0;  ///< Those of `opened` that were known when the scope opened.
  const void* thread = nullptr;            ///< Says which thread opened it.
};

/// A closed scope; its row waits to be written.
struct ScopeRow {
  explicit ScopeRow(std::pmr::memory_resource& memory) : test(&memory), name(&memory), parent(&memory) {}

  std::pmr::string test;
  std::pmr::string name;
  std::pmr::string parent;
  std::uint64_t repetition = 0;
  std::uint64_t wall_ns = 0;
  bool is_traced = false;  ///< A tool beside us took part of its times.
  Reach reach = Reach::thread;
  OpenBackend* opened = nullptr;
  std::uint64_t hidden_losses_before = 0;
  std::shared_ptr<const detail::CostData> cost;
};

/// What was kept for writing, and what was not.
struct ScopeRows {
  std::pmr::list<ScopeRow> rows;  ///< Oldest first.
  std::uint64_t not_kept = 0;     ///< Rows for which there was no room.
};

/// Thread-safe. Makes no syscall while `memory` makes none. So that memory lasts, only so many rows wait; the others
/// are counted.
class ScopeRecords {
 public:
  static constexpr std::size_t kMaxRows = 10'000;

  explicit ScopeRecords(std::pmr::memory_resource& memory) : memory_(memory) {}

  ScopeRecord* begin(std::string_view name);
  /// Forgets the scope. Its name is that of a row when `wants_row`.
  void end(ScopeRecord* scope, bool wants_row, std::shared_ptr<const detail::CostData> cost, std::uint64_t wall_ns,
           bool is_traced = false);

  /// The window scopes are in from now on: a test's name and its window's; both empty outside.
  void set_enclosing(std::string_view test, std::string_view window);

  int open_count() const { return open_count_.load(std::memory_order_acquire); }
  /// True when the calling thread has another scope open than `scope` (which may be null).
  bool is_inside_another(const ScopeRecord* scope);
  /// The rows that waited.
  ScopeRows take_rows();

 private:
  using Key = std::pair<std::pmr::string, std::pmr::string>;

  std::uint64_t next_repetition(const std::pmr::string& scope, bool has_room);
  std::string_view enclosing_name(std::pmr::list<ScopeRecord>::iterator scope) const;

  std::pmr::memory_resource& memory_;
  SpinLock lock_;
  std::atomic<int> open_count_{0};
  std::pmr::list<ScopeRecord> open_{&memory_};  // oldest first
  std::pmr::list<ScopeRow> rows_{&memory_};
  std::uint64_t not_kept_ = 0;
  std::pmr::map<Key, std::uint64_t> repetitions_{&memory_};  // of (test, scope) so far
  std::pmr::string test_{&memory_};
  std::pmr::string window_{&memory_};
};

}  // namespace syscost::session
