// SPDX-License-Identifier: MIT
//
// RowStore: the `syscall` rows of a Dataset, packed.
//
// A SyscallRow takes 144 bytes, and almost all of them say little: a small count, the same number again, 0, or nothing.
// Packed it takes about fifteen, so that ten million rows fit where one million did. Rows are packed when they are read
// and unpacked, some at a time, when they are looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/syscall_row.h"

namespace syscost::bench::model {

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

  /// Takes over the rows of `part`: its names are `names[id]` here, its samples `samples[sample]`, its only file
  /// `file`; in that, `lines_before` lines stand before its rows. `part` has taken over no other.
  void absorb(RowStore&& part, const std::vector<NameId>& names, const std::vector<std::uint32_t>& samples,
              std::uint32_t file, std::uint32_t lines_before);
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
  /// The meaning of the numbers in packed rows. absorb() takes over rows together with their dictionary.
  struct Dictionary {
    std::vector<Call> calls;
    std::vector<NameId> names;  ///< Empty: ids mean themselves.
  };
  struct Block {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::shared_ptr<Dictionary> dictionary;
    std::uint32_t lines_before = 0;  ///< Lines of the file before those that its rows count.
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

  std::vector<Block> blocks_;
  std::vector<Extent> extents_;
  std::shared_ptr<Dictionary> dictionary_;
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
