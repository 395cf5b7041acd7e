// SPDX-License-Identifier: MIT
//
// CostData: the numbers of a Cost, and the access to them for the parts of libsyscost that pass them on.
//
// The public Cost hides its storage, so that libsyscost can change the storage without breaking a user's binary. The
// code that closes a window fills a CostData, once; afterwards it is shared and read-only.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <string>

#include "core/bytes.h"
#include "core/extensions.h"
#include "core/segments_held.h"
#include "core/selector.h"
#include "core/tally.h"
#include "syscost/cost.h"

namespace syscost::detail {

/// Which measures the backend delivered. The others are 0 in the table and must never be shown as a number.
struct Measured {
  bool entries = true;  ///< with `calls` also restarts, in_flight and no_return
  bool calls = true;
  bool errors = true;
  bool latency = true;
  BytesKnown bytes = BytesKnown::none;
  bool altered = false;
  bool threads = false;                         ///< which threads made the entries
  std::span<const SyscallId> uncountable = {};  ///< Syscalls that the backend never sees.
};

/// The data that only few windows have.
struct CostExtra {
  explicit CostExtra(std::pmr::memory_resource* memory) : segments(memory) {}

  /// What CallDetail::origin stands for in the table; null = nothing, or sites (site_names.h).
  const CallOrigins* origins = nullptr;
  // With a CallKeeper only.
  std::uint64_t unkept = 0;  ///< Calls in the table without a record.
  SegmentsHeld segments;     ///< Which events are the window's.
};

struct DeleteCostExtra {
  void operator()(CostExtra* extra) const {
    std::pmr::polymorphic_allocator<CostExtra> allocator(extra->segments.stretches.get_allocator().resource());
    extra->~CostExtra();
    allocator.deallocate(extra, 1);
  }
};

/// Thousands of these wait for their rows in one test, and a few bytes more are a larger block of quiet memory.
struct CostData {
  /// `memory` must outlive every Cost that shares these numbers.
  explicit CostData(std::pmr::memory_resource* memory) : table(memory), programs(memory) {}

  CallTable table;
  ProgramTables programs;  ///< Those of other programs: of children, of a command. Not in `table`.
  Measured measured;
  std::shared_ptr<const Filter> filter;               ///< The calls that were counted; null = all.
  std::uint64_t late = 0;                             ///< Counted into the window after it had been read.
  std::uint64_t lost = 0;                             ///< Happened and was not recorded.
  std::unique_ptr<CostExtra, DeleteCostExtra> extra;  ///< Null = nothing of it.

  const CallOrigins* origins() const { return extra == nullptr ? nullptr : extra->origins; }
  std::uint64_t unkept() const { return extra == nullptr ? 0 : extra->unkept; }
  /// Null without a CallKeeper.
  const SegmentsHeld* segments() const {
    return extra == nullptr || extra->segments.stretches.empty() ? nullptr : &extra->segments;
  }
  /// Makes it if there is none, of the memory that `table` has.
  CostExtra& make_extra() {
    if (extra == nullptr) {
      std::pmr::polymorphic_allocator<CostExtra> allocator(table.memory());
      extra.reset(new (allocator.allocate(1)) CostExtra(table.memory()));
    }
    return *extra;
  }
};

/// The table without details: `table` itself if it has none, else `room`, which must be empty and gets the sums.
const CallTable& without_details(const CallTable& table, CallTable& room);

/// `1024 write, 3 openat (1 ENOENT)`: what the table holds, busiest first.
std::string breakdown(const CallTable& table, const Measured& measured);
/// The same of the data's own table, and what was lost.
std::string breakdown(const CostData& data);
/// ` (only %network counted)`, or empty when everything was.
std::string filter_note(const CostData& data);

struct CostAccess {
  /// Null when the cost is not available.
  static const CostData* data(const Cost& cost) { return cost.data_.get(); }
};

}  // namespace syscost::detail
