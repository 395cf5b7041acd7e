// SPDX-License-Identifier: MIT
#include "model/row_store.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

#include "csv/text.h"

namespace syscost::bench::model {

Names::Names() {
  intern("");
}

NameId Names::intern(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>()(text);
  const NameId known = ids_.find(hash, [&](NameId id) { return texts_[id] == text; });
  if (known != IdIndex::kNone) return known;
  const auto id = static_cast<NameId>(texts_.size());
  texts_.emplace_back(text);
  ids_.insert(hash, id);
  return id;
}

void Names::make_printable() {
  ids_.clear();
  for (NameId id = 0; id < texts_.size(); ++id) {
    texts_[id] = csv::printable(texts_[id]);
    ids_.insert(std::hash<std::string_view>()(texts_[id]), id);
  }
}

namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

/// The numbers of a row; the first two, entries and calls, decide how the others are packed.
constexpr auto kNumbers = [] {
  std::array<Measured SyscallRow::*, kRowSums.size() + 2> all{};
  *std::copy(kRowSums.begin(), kRowSums.end(), all.begin()) = &SyscallRow::latency_min_ns;
  all.back() = &SyscallRow::latency_max_ns;
  return all;
}();

constexpr std::array kTexts = {&SyscallRow::errnos, &SyscallRow::per_run_errnos, &SyscallRow::histogram};

/// How a number is packed: two bits each in the row's first word.
enum How : std::uint64_t {
  kNothing = 0,   ///< It was not measured.
  kZero = 1,      ///< 0
  kAsBefore = 2,  ///< Equal to entries; to calls, if entries are unknown.
  kWritten = 3,   ///< It follows.
};
constexpr unsigned kFirstTextBit = 2 * kNumbers.size();
constexpr std::uint64_t kIsNextLine = 1ULL << (kFirstTextBit + kTexts.size());
constexpr unsigned kWordBytes = 7;
static_assert(kFirstTextBit + kTexts.size() < 8 * kWordBytes);

// The call, the word, the line, the texts and the numbers, as long as they can be.
constexpr std::size_t kLongestRow = 5 + kWordBytes + 5 + 5 * kTexts.size() + 10 * kNumbers.size();

/// Seven bits a byte, the lowest first; the last byte has its highest bit clear.
std::uint8_t* write_number(std::uint8_t* at, std::uint64_t number) {
  for (; number > 0x7F; number >>= 7U) *at++ = static_cast<std::uint8_t>(number | 0x80U);
  *at++ = static_cast<std::uint8_t>(number);
  return at;
}

const std::uint8_t* read_number(const std::uint8_t* at, std::uint64_t& number) {
  number = *at & 0x7FU;
  for (unsigned shift = 7; (*at++ & 0x80U) != 0; shift += 7) number |= std::uint64_t{*at & 0x7FU} << shift;
  return at;
}

std::uint32_t read_id(const std::uint8_t*& at) {
  std::uint64_t number = 0;
  at = read_number(at, number);
  return static_cast<std::uint32_t>(number);
}

}  // namespace

RowStore::RowStore() {
  calls_.push_back({kNoName, kNoName, kNoName, 0, 0});  // before the first row
}

std::uint32_t RowStore::call_of(const SyscallRow& row) {
  std::uint32_t at = calls_[last_call_].next;
  const Call& guess = calls_[at];
  if (at == 0 || guess.syscall != row.syscall || guess.detail != row.detail || guess.classes != row.classes) {
    // Two of the three names are one entry. That entry and the third name are another one.
    const auto find = [&](std::uint64_t names) {
      const auto [found, is_new] = call_of_names_.try_emplace(names, static_cast<std::uint32_t>(calls_.size()));
      if (is_new) calls_.push_back({row.syscall, row.detail, row.classes, found->second, 0});
      return found->second;
    };
    const std::uint32_t key = find(std::uint64_t{row.syscall} << 32U | row.detail);
    at = find(1ULL << 63U | std::uint64_t{key} << 32U | row.classes);
    calls_[at].key = key;
    calls_[last_call_].next = at;
    seen_.resize(calls_.size(), 0);
  }
  return last_call_ = at;
}

std::optional<SyscallRow> RowStore::append(const SyscallRow& row) {
  Extent* extent = extents_.empty() ? nullptr : &extents_.back();
  const bool is_other = extent == nullptr || extent->sample != row.sample || extent->file != row.file;
  if (blocks_.empty() || filled_ + kLongestRow > kBlockBytes) {
    blocks_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(kBlockBytes));
    filled_ = 0;
  }
  if (is_other) ++stretch_;
  const std::uint32_t call = call_of(row);
  std::uint32_t& seen = seen_[calls_[call].key];
  if (seen == stretch_) return row_of_same_call(row);
  seen = stretch_;
  if (is_other || extent->block + 1 != blocks_.size()) {
    extents_.push_back({row.sample, 0, static_cast<std::uint32_t>(blocks_.size() - 1),
                        static_cast<std::uint32_t>(filled_), row.file, row.line, !is_other});
    extent = &extents_.back();
    last_line_ = row.line - 1;
  }

  std::uint8_t* const begin = blocks_.back().get() + filled_;
  std::uint8_t* at = write_number(begin, call);
  std::uint8_t* const word_at = at;
  at += kWordBytes;
  std::uint64_t word = 0;
  const Measured& before = row.entries.has_value() ? row.entries : row.calls;
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    const Measured& number = row.*kNumbers[i];
    How how = kNothing;
    if (number.has_value()) {
      how = *number == 0 ? kZero : &number != &before && *number == before.value_or(0) ? kAsBefore : kWritten;
      if (how == kWritten) at = write_number(at, *number);
    }
    word |= how << (2 * i);
  }
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    if (row.*kTexts[i] == kNoName) continue;
    word |= 1ULL << (kFirstTextBit + i);
    at = write_number(at, row.*kTexts[i]);
  }
  if (row.line == last_line_ + 1) {
    word |= kIsNextLine;
  } else {
    at = write_number(at, row.line);
  }
  last_line_ = row.line;
  for (unsigned i = 0; i < kWordBytes; ++i) word_at[i] = static_cast<std::uint8_t>(word >> (8 * i));
  filled_ += static_cast<std::size_t>(at - begin);
  ++extent->rows;
  ++size_;
  return std::nullopt;
}

/// Among the rows of its sample that were added last.
std::optional<SyscallRow> RowStore::row_of_same_call(const SyscallRow& row) const {
  std::vector<SyscallRow> rows;
  for (std::size_t i = extents_.size(); i-- > 0;) {
    rows.clear();
    unpack(extents_[i], rows);
    for (const SyscallRow& other : rows) {
      if (other.syscall == row.syscall && other.detail == row.detail) return other;
    }
    if (!extents_[i].continues) break;
  }
  return std::nullopt;
}

void RowStore::unpack(const Extent& extent, std::vector<SyscallRow>& rows) const {
  const std::uint8_t* at = blocks_[extent.block].get() + extent.offset;
  std::uint32_t line = extent.line - 1;
  for (std::uint32_t i = 0; i < extent.rows; ++i) {
    SyscallRow& row = rows.emplace_back();
    const Call& call = calls_[read_id(at)];
    row.sample = extent.sample;
    row.file = extent.file;
    row.syscall = call.syscall;
    row.detail = call.detail;
    row.classes = call.classes;
    std::uint64_t word = 0;
    for (unsigned byte = 0; byte < kWordBytes; ++byte) word |= std::uint64_t{*at++} << (8 * byte);
    for (std::size_t number = 0; number < kNumbers.size(); ++number) {
      switch ((word >> (2 * number)) & 3U) {
        case kZero:
          row.*kNumbers[number] = Measured(0);
          break;
        case kAsBefore:
          row.*kNumbers[number] = row.entries.has_value() ? row.entries : row.calls;
          break;
        case kWritten: {
          std::uint64_t value = 0;
          at = read_number(at, value);
          row.*kNumbers[number] = Measured(value);
          break;
        }
        default:
          break;
      }
    }
    for (std::size_t text = 0; text < kTexts.size(); ++text) {
      if ((word >> (kFirstTextBit + text) & 1U) == 0) continue;
      row.*kTexts[text] = read_id(at);
    }
    line = (word & kIsNextLine) != 0 ? line + 1 : read_id(at);
    row.line = line;
  }
}

void RowStore::keep(const std::vector<std::uint32_t>& moved) {
  for (Extent& extent : extents_) {
    extent.sample = moved[extent.sample];
    if (extent.sample == kNoSample) size_ -= extent.rows;
  }
  std::erase_if(extents_, [](const Extent& extent) { return extent.sample == kNoSample; });
}

void RowStore::index(std::size_t samples) {
  std::erase_if(extents_, [](const Extent& extent) { return extent.rows == 0; });
  // A writer keeps a window's rows together, so the sort is almost always only the check.
  const auto by_sample = [](const Extent& a, const Extent& b) { return a.sample < b.sample; };
  if (!std::is_sorted(extents_.begin(), extents_.end(), by_sample)) {
    std::stable_sort(extents_.begin(), extents_.end(), by_sample);
  }
  first_extent_.assign(samples + 1, static_cast<std::uint32_t>(extents_.size()));
  for (std::size_t i = extents_.size(); i-- > 0;) first_extent_[extents_[i].sample] = static_cast<std::uint32_t>(i);
  for (std::size_t i = samples; i-- > 0;) first_extent_[i] = std::min(first_extent_[i], first_extent_[i + 1]);
}

void RowStore::of(std::uint32_t sample, std::vector<SyscallRow>& rows) const {
  for (std::uint32_t i = first_extent_[sample]; i < first_extent_[sample + 1]; ++i) unpack(extents_[i], rows);
}

std::vector<std::uint32_t> RowStore::samples_to_check() const {
  std::vector<std::uint32_t> samples;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const Extent& extent = extents_[i];
    const bool is_later = i != 0 && extents_[i - 1].sample == extent.sample && !extent.continues;
    if (!is_later) continue;
    if (samples.empty() || samples.back() != extent.sample) samples.push_back(extent.sample);
  }
  return samples;
}

void RowStore::replace(std::uint32_t sample, const std::vector<SyscallRow>& rows) {
  for (std::uint32_t i = first_extent_[sample]; i < first_extent_[sample + 1]; ++i) {
    size_ -= extents_[i].rows;
    extents_[i].rows = 0;
  }
  // A new extent: the sample's last extent may hold rows that were just removed.
  extents_.push_back({sample, 0, 0, 0, std::numeric_limits<std::uint32_t>::max(), 0, false});
  for (const SyscallRow& row : rows) append(row);
}

}  // namespace syscost::bench::model
