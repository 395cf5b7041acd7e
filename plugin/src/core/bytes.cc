// SPDX-License-Identifier: MIT
#include "core/bytes.h"

namespace syscost {
namespace {

using Number = std::optional<std::uint64_t>;

/// Adds a number that belongs to the sum if `belongs`. If it is unknown, so is the sum.
void add(Number& sum, bool belongs, const Number& number, const Tally& tally) {
  if (!belongs || !sum.has_value()) return;
  if (number.has_value()) {
    *sum += *number;
  } else if (tally.has_success()) {
    sum.reset();
  }
}

}  // namespace

ByteNumbers byte_numbers(SyscallId id, const Tally& tally, BytesKnown known) {
  const ByteRule rule = byte_rule(id);
  if (known == BytesKnown::none || rule.source == SYSCOST_BYTES_NONE) return {};
  const bool has_arguments = known == BytesKnown::all || id.abi == kNativeAbi;
  ByteNumbers numbers;
  if (rule.moves() || (rule.may_map() && has_arguments)) numbers.bytes = tally.bytes;
  if (rule.may_unmap() && has_arguments) numbers.released = tally.bytes_released;
  if (rule.has_size() && has_arguments) numbers.short_calls = tally.short_calls;
  if (rule.opens() && has_arguments) numbers.kernel_files = tally.kernel_files;
  // openat2 has its flags in memory, which only a program in the kernel looks at.
  const bool has_flags = rule.source != SYSCOST_BYTES_OPENS_HOW || known == BytesKnown::all;
  if (rule.opens() && has_arguments && has_flags) numbers.sync_opens = tally.sync_opens;
  return numbers;
}

ByteTotals byte_totals(const CallTable& table, BytesKnown known) {
  if (known == BytesKnown::none) return {};
  ByteTotals totals{0, 0, 0, 0};
  for (const auto& [id, tally] : table) {
    const ByteRule rule = byte_rule(id);
    const ByteNumbers numbers = byte_numbers(id, tally, known);
    const bool is_unknown = rule.way == ByteWay::unknown;
    const bool is_both = rule.way == ByteWay::both || is_unknown;
    add(totals.read, is_both || rule.way == ByteWay::reads, numbers.bytes, tally);
    add(totals.written, is_both || rule.way == ByteWay::writes, numbers.bytes, tally);
    add(totals.mapped, rule.may_map(), numbers.bytes, tally);
    add(totals.unmapped, rule.may_unmap(), numbers.released, tally);
  }
  return totals;
}

}  // namespace syscost
