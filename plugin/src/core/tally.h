// SPDX-License-Identifier: MIT
//
// Tally: the numbers of one syscall: calls, errors, bytes and latencies. And the tables of them, of the process and of
// other programs.
//
// All are used inside measured windows, where a syscall of malloc would be counted as the user's. So all their memory
// comes from a std::pmr::memory_resource that the owner passes (os/memory.h), and clear() keeps it. Plain data: not
// thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/syscall_id.h"
#include "syscost/histogram.h"

namespace syscost {

/// The buckets of syscost/histogram.h that hold something: the same numbers as Histogram, in memory of the given
/// resource.
///
/// The latencies of one syscall in one test fall into a handful of the 304 buckets. A thousand named scopes in one test
/// wait for their rows in memory reserved beforehand (quiet_memory()): with every bucket kept, 2.4 KiB per syscall, it
/// was used up, and the syscalls that malloc then made were charged to the user's test.
class SparseHistogram {
 public:
  explicit SparseHistogram(std::pmr::memory_resource* memory) : buckets_(memory) {}

  void add(std::uint64_t ns) {
    add_bucket(histogram_bucket(ns), 1);
    add_exact(1, ns, ns, ns);
  }
  /// Adds `count` values to one bucket, without touching the exact figures. Cheapest in ascending order.
  void add_bucket(std::size_t bucket, std::uint64_t count) {
    if (count == 0) return;
    auto at = buckets_.end();
    if (!buckets_.empty() && buckets_.back().bucket >= bucket) {
      at = std::lower_bound(buckets_.begin(), buckets_.end(), bucket,
                            [](const Bucket& one, std::size_t value) { return one.bucket < value; });
    }
    if (at == buckets_.end() || at->bucket != bucket) {
      at = buckets_.insert(at, Bucket{static_cast<std::uint32_t>(bucket), 0});
    }
    at->count += count;
  }
  /// Adds the exact figures of `count` values (which were, or will be, added to buckets). No effect for 0 values.
  void add_exact(std::uint64_t count, std::uint64_t sum_ns, std::uint64_t min_ns, std::uint64_t max_ns) {
    if (count == 0) return;
    min_ns_ = count_ == 0 ? min_ns : std::min(min_ns_, min_ns);
    max_ns_ = std::max(max_ns_, max_ns);
    count_ += count;
    sum_ns_ += sum_ns;
  }
  void merge(const SparseHistogram& other) {
    if (buckets_.empty()) {
      buckets_.assign(other.buckets_.begin(), other.buckets_.end());
    } else {
      for (const Bucket& one : other.buckets_) add_bucket(one.bucket, one.count);
    }
    add_exact(other.count_, other.sum_ns_, other.min_ns_, other.max_ns_);
  }
  /// Keeps the memory for the next use.
  void clear() {
    buckets_.clear();
    count_ = sum_ns_ = min_ns_ = max_ns_ = 0;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t sum_ns() const { return sum_ns_; }
  std::uint64_t min_ns() const { return min_ns_; }  ///< 0 when count() is 0.
  std::uint64_t max_ns() const { return max_ns_; }  ///< 0 when count() is 0.

  /// With all its buckets, for readers.
  Histogram dense() const {
    Histogram all;
    for (const Bucket& one : buckets_) all.add_bucket(one.bucket, one.count);
    all.add_exact(count_, sum_ns_, min_ns_, max_ns_);
    return all;
  }

 private:
  struct Bucket {
    std::uint32_t bucket;
    std::uint64_t count;
  };

  std::pmr::vector<Bucket> buckets_;  // ascending; none holds 0
  std::uint64_t count_ = 0;
  std::uint64_t sum_ns_ = 0;
  std::uint64_t min_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

/// Largest value the kernel returns as an error: results -1..-4095 are errnos, everything else is a value.
inline constexpr int kMaxErrno = 4095;

/// Which thread made a call of a process window: the one that opened the window, one that began in it, or an older one.
enum class Maker : std::uint8_t { opener, started, older };

/// How often a syscall failed, by errno, ascending.
class ErrnoCounts {
 public:
  struct Entry {
    int error;
    std::uint64_t count;
  };

  explicit ErrnoCounts(std::pmr::memory_resource* memory) : entries_(memory) {}

  /// Counts `count` failures with errno `error` (1..kMaxErrno); others are no errors and change nothing.
  void add(int error, std::uint64_t count = 1) {
    if (error < 1 || error > kMaxErrno || count == 0) return;
    auto at = std::lower_bound(entries_.begin(), entries_.end(), error,
                               [](const Entry& entry, int value) { return entry.error < value; });
    if (at == entries_.end() || at->error != error) at = entries_.insert(at, Entry{error, 0});
    at->count += count;
  }
  void merge(const ErrnoCounts& other) {
    for (const Entry& entry : other.entries_) add(entry.error, entry.count);
  }
  void clear() { entries_.clear(); }

  std::uint64_t count(int error) const {
    for (const Entry& entry : entries_) {
      if (entry.error == error) return entry.count;
    }
    return 0;
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const Entry& entry : entries_) sum += entry.count;
    return sum;
  }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::pmr::vector<Entry> entries_;
};

/// One syscall's numbers; cost.h says what each means.
///
///     entries = calls + restarts + in_flight + no_return
struct Tally {
  explicit Tally(std::pmr::memory_resource* memory) : errors(memory), latency(memory) {}

  std::uint64_t entries = 0;
  std::uint64_t calls = 0;
  std::uint64_t restarts = 0;
  std::uint64_t no_return = 0;
  std::uint64_t carried_in = 0;
  std::uint64_t denied = 0;
  std::uint64_t bytes = 0;               ///< That `calls` moved or mapped (bytes.h).
  std::uint64_t bytes_released = 0;      ///< That `calls` unmapped.
  std::uint64_t short_calls = 0;         ///< Those of `calls` that moved less than asked.
  std::uint64_t kernel_files = 0;        ///< Those of `calls` that opened a path below /proc or /sys (bytes.h).
  std::uint64_t sync_opens = 0;          ///< Those of `calls` that opened with O_SYNC or O_DSYNC.
  std::uint64_t by_started_threads = 0;  ///< Those of `entries`, or of `calls` where only these are counted, by
                                         ///< threads that began while the window was open.
  std::uint64_t by_older_threads = 0;    ///< The same by older ones, but for the thread that opened the window.
  std::uint64_t altered = 0;             ///< Those of `calls` (seccomp: of `entries`) that a fault answered or changed.
  ErrnoCounts errors;                    ///< Errors of `calls`, by errno.
  SparseHistogram latency;               ///< One value per returned entry.

  /// Entries that had neither returned nor ended. 0 also when a backend that sees no entries left `entries` at 0.
  std::uint64_t in_flight() const {
    std::uint64_t ended = calls + restarts + no_return;
    return entries > ended ? entries - ended : 0;
  }

  /// True if a call succeeded. One that failed moved no bytes.
  bool has_success() const { return calls > errors.total(); }

  /// True when nothing was counted.
  bool empty() const {
    return (entries | calls | restarts | no_return | carried_in | denied) == 0 && errors.empty() &&
           latency.count() == 0;
  }

  void merge(const Tally& other) {
    entries += other.entries;
    calls += other.calls;
    restarts += other.restarts;
    no_return += other.no_return;
    carried_in += other.carried_in;
    denied += other.denied;
    bytes += other.bytes;
    bytes_released += other.bytes_released;
    short_calls += other.short_calls;
    kernel_files += other.kernel_files;
    sync_opens += other.sync_opens;
    by_started_threads += other.by_started_threads;
    by_older_threads += other.by_older_threads;
    altered += other.altered;
    errors.merge(other.errors);
    latency.merge(other.latency);
  }

  void clear() {
    entries = calls = restarts = no_return = carried_in = denied = 0;
    bytes = bytes_released = short_calls = kernel_files = sync_opens = altered = by_started_threads = by_older_threads =
        0;
    errors.clear();
    latency.clear();
  }
};

/// The tallies of one stretch of code, by syscall. References stay valid until clear() or the end. Iterates in
/// ascending SyscallId: `for (const auto& [id, tally] : table)`.
class CallTable {
 public:
  struct Entry {
    Entry(SyscallId which, std::pmr::memory_resource* memory) : id(which), tally(memory) {}
    SyscallId id;
    Tally tally;
  };

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    Iterator() = default;
    explicit Iterator(Entry* const* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    Entry* const* at_ = nullptr;
  };

  /// `memory` must outlive the table.
  explicit CallTable(std::pmr::memory_resource* memory) : slots_(memory), order_(memory) {}
  // A copy would silently use other memory. Make a table with the right memory, and merge() into it.
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  /// The tally of a syscall; made empty at first use.
  Tally& at(SyscallId id) {
    const std::size_t place = lower_bound(id);
    if (place < used_ && order_[place]->id == id) return order_[place]->tally;
    if (used_ == order_.size()) {
      order_.push_back(nullptr);
      order_.back() = &slots_.emplace_back(id, slots_.get_allocator().resource());
    }
    // Slots beyond the used ones were emptied by clear() and keep their memory.
    Entry* fresh = order_[used_];
    fresh->id = id;
    std::move_backward(order_.begin() + static_cast<std::ptrdiff_t>(place),
                       order_.begin() + static_cast<std::ptrdiff_t>(used_),
                       order_.begin() + static_cast<std::ptrdiff_t>(used_) + 1);
    order_[place] = fresh;
    ++used_;
    return fresh->tally;
  }

  /// The tally of a syscall, or null when there is none.
  const Tally* find(SyscallId id) const {
    const std::size_t place = lower_bound(id);
    return place < used_ && order_[place]->id == id ? &order_[place]->tally : nullptr;
  }

  void merge(const CallTable& other) {
    for (const Entry& entry : other) at(entry.id).merge(entry.tally);
  }

  /// Forgets every count and keeps the memory for the next use.
  void clear() {
    for (std::size_t i = 0; i < used_; ++i) order_[i]->tally.clear();
    used_ = 0;
  }

  std::pmr::memory_resource* memory() const { return order_.get_allocator().resource(); }
  bool empty() const { return used_ == 0; }
  std::size_t size() const { return used_; }
  Iterator begin() const { return Iterator(order_.data()); }
  Iterator end() const { return Iterator(order_.data() + used_); }

 private:
  /// The first used place that holds a syscall not before `id`.
  std::size_t lower_bound(SyscallId id) const {
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto at =
        std::lower_bound(order_.begin(), end, id, [](const Entry* entry, SyscallId key) { return entry->id < key; });
    return static_cast<std::size_t>(at - order_.begin());
  }

  std::pmr::list<Entry> slots_;     // a list: they never move, and an empty table holds nothing
  std::pmr::vector<Entry*> order_;  // all slots; the used ones first, by id
  std::size_t used_ = 0;
};

/// The syscalls of processes below the measured one, by program and not by process: ids differ from run to run, and a
/// test that runs `gzip` four times is compared with one that runs it three times.
///
/// Iterates in the order in which programs were first seen: `for (const auto& [program, table] : programs)`.
class ProgramTables {
 public:
  struct Entry {
    Entry(std::string_view its_program, std::pmr::memory_resource* memory)
        : program(its_program, memory), table(memory) {}
    std::pmr::string program;
    CallTable table;
  };

  /// `memory` must outlive the tables.
  explicit ProgramTables(std::pmr::memory_resource* memory) : entries_(memory) {}
  ProgramTables(const ProgramTables&) = delete;
  ProgramTables& operator=(const ProgramTables&) = delete;

  /// The table of a program; made empty at first use.
  CallTable& at(std::string_view program) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.program == program; });
    if (found != entries_.end()) return found->table;
    return entries_.emplace_back(program, entries_.get_allocator().resource()).table;
  }
  void merge(const ProgramTables& other) {
    for (const Entry& entry : other) {
      if (!entry.table.empty()) at(entry.program).merge(entry.table);
    }
  }
  /// Forgets every count.
  void clear() {
    for (Entry& entry : entries_) entry.table.clear();
  }
  /// True when no program has a count.
  bool empty() const {
    return std::all_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.table.empty(); });
  }
  std::pmr::list<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::pmr::list<Entry>::const_iterator end() const { return entries_.end(); }

 private:
  std::pmr::list<Entry> entries_;
};

}  // namespace syscost
