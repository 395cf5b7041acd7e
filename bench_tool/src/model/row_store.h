// SPDX-License-Identifier: MIT
//
// RowStore: the `syscall` rows of a Dataset in little memory, so that ten million rows fit.
//
// A SyscallRow takes 144 bytes, and almost all of them say little: a small count, the same number again, 0, or nothing.
// Rows are packed when they are read, and unpacked, some at a time, when they are asked for. Texts are kept once: rows
// hold a number for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace syscost::bench::model {

/// A number that may not have been measured.
///
/// An empty cell means "not counted", and must reach the screen as `n/a`, never as 0. std::optional says the same in
/// twice the memory; a million rows of thirteen such numbers are the reason for this type.
class Measured {
 public:
  /// Largest number that can be held; readers refuse larger ones.
  static constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max() - 1;

  constexpr Measured() = default;
  /// `value` <= kLargest.
  constexpr explicit Measured(std::uint64_t value) : value_(value) {}

  constexpr bool has_value() const { return value_ != kNothing; }
  /// Only when has_value().
  constexpr std::uint64_t operator*() const { return value_; }
  constexpr std::uint64_t value_or(std::uint64_t fallback) const { return has_value() ? value_ : fallback; }
  constexpr std::optional<std::uint64_t> optional() const { return has_value() ? std::optional(value_) : std::nullopt; }

 private:
  static constexpr std::uint64_t kNothing = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_ = kNothing;
};

/// Finds what is kept elsewhere under numbers 0, 1, 2, ... by its hash.
///
/// A million names or windows in std::unordered_map are a million allocations of sixty bytes; here each costs about
/// twelve bytes, and what is indexed is not kept twice.
class IdIndex {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// The id that was inserted under `hash` and for which `is_it(id)` holds; kNone if there is none.
  template <class IsIt>
  std::uint32_t find(std::uint64_t hash, IsIt is_it) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = place_of(hash);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.id == kNone) return kNone;
      if (slot.hash == static_cast<std::uint32_t>(hash) && is_it(slot.id)) return slot.id;
    }
  }
  /// Adds an id that find() did not find. `id` is not kNone.
  void insert(std::uint64_t hash, std::uint32_t id) {
    if ((count_ + 1) * 3 > slots_.size() * 2) grow();
    place(static_cast<std::uint32_t>(hash), id);
    ++count_;
  }
  void clear() { *this = IdIndex(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = kNone;
  };

  std::size_t place_of(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash) & (slots_.size() - 1); }
  void place(std::uint32_t hash, std::uint32_t id) {
    std::size_t at = place_of(hash);
    while (slots_[at].id != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {hash, id};
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != kNone) place(slot.hash, slot.id);
    }
  }

  std::vector<Slot> slots_;  ///< A power of two of them, never full.
  std::size_t count_ = 0;
};

using NameId = std::uint32_t;
/// The id of the empty text.
inline constexpr NameId kNoName = 0;

/// Each distinct text once.
///
/// A million rows hold some thousand distinct texts (test names, syscalls, errno lists). Rows keep a number for each,
/// so that memory follows the samples and comparing two names is comparing two integers.
class Names {
 public:
  Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;

  NameId intern(std::string_view text);
  /// Makes every text printable; ids stay. Two texts that look alike then keep their own ids.
  void make_printable();
  const std::string& text(NameId id) const { return texts_[id]; }
  /// Number of ids given out.
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque: texts stay where they are, so that views into them stay valid
  IdIndex ids_;
};

/// The name by which `sync_opens` is compared, as if it were a syscall's.
inline constexpr std::string_view kSyncOpens = "O_SYNC";

/// The figures of a `syscall` row: one syscall of a window. Times in ns.
struct SyscallRow {
  std::uint32_t sample = 0;
  std::uint32_t file = 0;  ///< Index into Dataset::files.
  std::uint32_t line = 0;
  NameId syscall = kNoName;
  NameId detail = kNoName;
  NameId classes = kNoName;  ///< As in the file: `file;desc`.
  NameId errnos = kNoName;   ///< As in the file: `ENOENT:3 EINTR:1`.
  NameId per_run_errnos = kNoName;
  NameId histogram = kNoName;  ///< As in the file; kept only where LoadOptions asks for it.
  Measured entries;
  Measured by_started_threads;  ///< The part of `entries` by threads that began in the window.
  Measured by_older_threads;    ///< The part of `entries` by older threads, but for the one that opened the window.
  Measured calls;
  Measured restarts;
  Measured in_flight;
  Measured no_return;
  Measured carried_in;
  Measured denied;
  Measured errors;
  Measured altered;         ///< The part of `calls` that a fault answered or changed.
  Measured per_run_calls;   ///< The part of `calls` made once per run of a benchmark's loop; if known.
  Measured per_run_errors;  ///< The part of `errors` made once per run of a benchmark's loop; if known.
  Measured bytes;           ///< Moved by I/O, or mapped, by `calls`.
  Measured bytes_released;  ///< Unmapped by `calls`.
  Measured short_calls;     ///< The part of `calls` that moved less than asked.
  Measured per_run_bytes;   ///< The part of `bytes` that comes once per run of a benchmark's loop; if known.
  Measured kernel_files;    ///< The part of `calls` that opened a path below /proc or /sys.
  Measured sync_opens;      ///< The part of the successful `calls` that opened to write with O_SYNC or O_DSYNC.
  Measured latency_count;
  Measured latency_sum_ns;
  Measured latency_min_ns;
  Measured latency_max_ns;
};

/// The numbers of a row that add up over rows.
inline constexpr std::array kRowSums = {&SyscallRow::entries,
                                        &SyscallRow::calls,
                                        &SyscallRow::restarts,
                                        &SyscallRow::in_flight,
                                        &SyscallRow::no_return,
                                        &SyscallRow::carried_in,
                                        &SyscallRow::denied,
                                        &SyscallRow::errors,
                                        &SyscallRow::per_run_calls,
                                        &SyscallRow::per_run_errors,
                                        &SyscallRow::latency_count,
                                        &SyscallRow::latency_sum_ns,
                                        &SyscallRow::bytes,
                                        &SyscallRow::bytes_released,
                                        &SyscallRow::short_calls,
                                        &SyscallRow::per_run_bytes,
                                        &SyscallRow::altered,
                                        &SyscallRow::by_started_threads,
                                        &SyscallRow::by_older_threads,
                                        &SyscallRow::kernel_files,
                                        &SyscallRow::sync_opens};

/// The `syscall` rows of a Dataset, packed. A row takes about fifteen bytes, so ten million rows fit where one million
/// did.
class RowStore {
 public:
  RowStore();
  RowStore(RowStore&&) noexcept = default;
  RowStore& operator=(RowStore&&) noexcept = default;

  /// Adds a row of the sample `row.sample`. If a row for the same call stands among those of the sample that were added
  /// without a break before it, it is returned and nothing is added. The rows of a sample should follow each other.
  std::optional<SyscallRow> append(const SyscallRow& row);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Leaves the rows of samples that have a new number in `moved`, under that number; kNoSample drops them.
  void keep(const std::vector<std::uint32_t>& moved);
  static constexpr std::uint32_t kNoSample = 0xFFFFFFFF;

  /// Puts rows in the order of their samples, of which there are `samples`; of() works until the next change.
  void index(std::size_t samples);
  /// Appends to `rows` those of a sample, in the order they were appended.
  void of(std::uint32_t sample, std::vector<SyscallRow>& rows) const;
  /// After index(): samples in which two rows may be for the same call, because rows of others stood between them.
  std::vector<std::uint32_t> samples_to_check() const;
  /// Puts `rows` in the place of the sample's; index() again before the next of().
  void replace(std::uint32_t sample, const std::vector<SyscallRow>& rows);

 private:
  /// The names of a call; many rows share them.
  struct Call {
    NameId syscall, detail, classes;
    std::uint32_t key;   ///< The same for calls of the same syscall and detail.
    std::uint32_t next;  ///< The call that followed it last time.
  };
  /// Rows of one sample that follow each other in a block.
  struct Extent {
    std::uint32_t sample, rows;
    std::uint32_t block, offset;
    std::uint32_t file, line;  ///< Where the first row stands in the CSV.
    bool continues = false;    ///< Continues the extent before it, because that reached the end of its block.
  };

  std::uint32_t call_of(const SyscallRow& row);
  std::optional<SyscallRow> row_of_same_call(const SyscallRow& row) const;
  void unpack(const Extent& extent, std::vector<SyscallRow>& rows) const;

  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::vector<Extent> extents_;
  std::vector<Call> calls_;  ///< The meaning of the numbers of calls in packed rows.
  std::unordered_map<std::uint64_t, std::uint32_t> call_of_names_;
  std::uint32_t last_call_ = 0;
  std::uint32_t last_line_ = 0;
  std::size_t filled_ = 0;                   ///< Bytes of the last block.
  std::vector<std::uint32_t> seen_;          ///< By a call's key: the number of the stretch that had it last.
  std::uint32_t stretch_ = 0;                ///< The number of this stretch: rows of one sample that follow each other.
  std::vector<std::uint32_t> first_extent_;  ///< By sample, after index(); with one more at the end.
  std::size_t size_ = 0;
};

}  // namespace syscost::bench::model
