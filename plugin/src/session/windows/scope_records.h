// SPDX-License-Identifier: MIT
//
// ScopeRecords: the open scopes, and the rows of closed ones.
//
// A scope opens and closes in the middle of a test, so nothing here may enter the kernel: memory is quiet memory, locks
// spin, and the row of a named scope is kept until the session may write.
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
  WindowBook::Window* book_window = nullptr;
  Reach reach = Reach::thread;
  std::uint64_t start_ns = 0;
  std::uint64_t tools_epoch_before = 0;    ///< Measurement::tools_epoch when the scope opened.
  std::uint64_t hidden_losses_before = 0;  ///< OpenBackend::hidden_losses() of `opened` when the scope opened.
  const void* thread = nullptr;            ///< Identifies the thread that opened it.
};

/// A closed scope; its row waits to be written.
struct ScopeRow {
  explicit ScopeRow(std::pmr::memory_resource& memory) : test(&memory), name(&memory), parent(&memory) {}

  std::pmr::string test;
  std::pmr::string name;
  std::pmr::string parent;
  std::uint64_t repetition = 0;
  std::uint64_t wall_ns = 0;
  bool was_observed = false;  ///< A tool was attached: its times include the tool's.
  Reach reach = Reach::thread;
  OpenBackend* opened = nullptr;
  std::uint64_t hidden_losses_before = 0;
  std::shared_ptr<const detail::CostData> cost;
};

/// The waiting rows, and the number of rows without room.
struct ScopeRows {
  std::pmr::list<ScopeRow> rows;  ///< Oldest first.
  std::uint64_t not_kept = 0;     ///< Rows for which there was no room.
};

/// Thread-safe. Makes no syscall if `memory` makes none. At most kMaxRows rows wait, so that the memory lasts; the
/// others are only counted.
class ScopeRecords {
 public:
  static constexpr std::size_t kMaxRows = 10'000;

  explicit ScopeRecords(std::pmr::memory_resource& memory) : memory_(memory) {}

  ScopeRecord* begin(std::string_view name);
  /// Forgets the scope, and keeps a row of its name if `wants_row`.
  void end(ScopeRecord* scope, bool wants_row, std::shared_ptr<const detail::CostData> cost, std::uint64_t wall_ns,
           bool was_observed = false);

  /// The window that encloses scopes from now on: its test's name and its own; both empty outside of windows.
  void set_enclosing(std::string_view test, std::string_view window);

  int open_count() const { return open_count_.load(std::memory_order_acquire); }
  /// True if the calling thread has a scope open, other than `scope` (which may be null).
  bool is_inside_another(const ScopeRecord* scope);
  /// Returns the waiting rows, and forgets them.
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
