// SPDX-License-Identifier: MIT
//
// Slices: the stretches of a trace that have a name: scopes and loops. The window's own is known at its end.
//
// A scope ends inside windows, so nothing here enters the kernel: memory is quiet memory, and the lock spins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "core/cost_data.h"
#include "os/spin_lock.h"

namespace syscost::session {

struct Slice {
  Slice(std::string_view its_name, std::pmr::memory_resource& memory) : name(its_name, &memory) {}

  std::pmr::string name;  ///< `scope flush`, `loop flush`
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::shared_ptr<const detail::CostData> cost;  ///< Null for a loop, which is many windows.
};

/// Thread-safe. At most kMost slices wait; the others are only counted.
class Slices {
 public:
  static constexpr std::size_t kMost = 10'000;
  struct Waiting {
    std::pmr::list<Slice> all;
    std::uint64_t not_kept = 0;
  };

  explicit Slices(std::pmr::memory_resource& memory) : memory_(memory) {}

  void add(std::string_view name, std::uint64_t start_ns, std::uint64_t end_ns,
           std::shared_ptr<const detail::CostData> cost) {
    const std::lock_guard guard(lock_);
    if (waiting_.size() >= kMost) {
      ++not_kept_;
      return;
    }
    Slice& slice = waiting_.emplace_back(name, memory_);
    slice.start_ns = start_ns;
    slice.end_ns = end_ns;
    slice.cost = std::move(cost);
  }

  Waiting take() {
    const std::lock_guard guard(lock_);
    return {std::exchange(waiting_, std::pmr::list<Slice>(&memory_)), std::exchange(not_kept_, 0)};
  }

 private:
  std::pmr::memory_resource& memory_;
  SpinLock lock_;
  std::pmr::list<Slice> waiting_{&memory_};
  std::uint64_t not_kept_ = 0;
};

}  // namespace syscost::session
