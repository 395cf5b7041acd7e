// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/cfi.h"

#include <cstddef>

#include "backends/dispatch/stub/call.h"
#include "backends/dispatch/stub/cfi_program.h"
#include "backends/dispatch/stub/cfi_reader.h"

namespace syscost::signal_safe {
namespace {

using cfi::Common;
using cfi::copy_row;
using cfi::FileMemory;
using cfi::kRbp;
using cfi::kRdi;
using cfi::kRip;
using cfi::kRsp;
using cfi::length_of;
using cfi::Program;
using cfi::read_common;
using cfi::Reader;
using cfi::Row;

/// `{register + offset}`, or what stands in memory there.
struct Simple {
  bool is_valid = false;
  bool is_read = false;
  std::uint64_t name = 0;
  std::int64_t offset = 0;
};
Simple simple_expression(FileMemory& memory, std::uint64_t expression) {
  constexpr unsigned char kFirstRegister = 0x70;
  constexpr unsigned char kRead = 0x06;
  if (expression == 0) return {};
  Reader in(memory, expression);
  const std::uint64_t bytes = in.unsigned_leb();
  const std::uint64_t end = in.at() + bytes;
  if (bytes == 0) return {};
  Simple found;
  const unsigned char code = in.byte();
  if (code < kFirstRegister || code >= kFirstRegister + kRip) return {};
  found.name = static_cast<std::uint64_t>(code - kFirstRegister);
  found.offset = in.signed_leb();
  if (in.at() < end) {
    found.is_read = true;
    if (in.byte() != kRead) return {};
  }
  found.is_valid = in.at() == end && in.is_ok();
  return found;
}

/// The expression that linkers write for the procedure linkage table; the number of the instruction in it, or -1.
std::int64_t plt_threshold(FileMemory& memory, std::uint64_t expression) {
  constexpr unsigned char kAnyLiteral = 0;
  // rsp + 8 + ((rip & 15) >= N) << 3
  constexpr unsigned char kBytes[] = {11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, kAnyLiteral, 0x2a, 0x33, 0x24, 0x22};
  constexpr std::size_t kLiteralAt = 7;
  constexpr unsigned char kFirstLiteral = 0x30;
  Reader in(memory, expression);
  std::int64_t threshold = -1;
  for (std::size_t i = 0; i < sizeof kBytes; ++i) {
    const unsigned char byte = in.byte();
    if (i == kLiteralAt) threshold = byte - kFirstLiteral;
    if (i != kLiteralAt && byte != kBytes[i]) return -1;
  }
  constexpr std::int64_t kEntryBytes = 16;
  return in.is_ok() && threshold <= kEntryBytes ? threshold : -1;
}

constexpr std::int64_t kReturnAddress = -8;  // From where the caller's frame begins: what a call pushes.
// In the kernel's frame of a signal: the offset of rsp in the registers.
constexpr std::int64_t kRspInRegisters = 120;

bool fits(std::int64_t cfa, std::int64_t offset) {
  return cfa <= Rule::kMostCfa && cfa >= -Rule::kMostCfa && offset <= Rule::kMostOffset && offset >= -Rule::kMostOffset;
}

Rule rule_by_expression(FileMemory& memory, const Row& row, bool is_signal) {
  const Simple cfa = simple_expression(memory, row.cfa_expression);
  if (!cfa.is_valid) {
    const std::int64_t threshold = plt_threshold(memory, row.cfa_expression);
    return threshold < 0 ? Rule(RuleKind::unsupported, 0) : Rule(RuleKind::plt, threshold);
  }
  if (!cfa.is_read || !fits(cfa.offset, 0)) return Rule(RuleKind::unsupported, 0);
  if (cfa.name == kRsp && is_signal) return Rule(RuleKind::signal, cfa.offset - kRspInRegisters);
  if (cfa.name == kRsp) {
    const Simple rip = simple_expression(memory, row.rip_expression);
    const bool is_call = cfa.offset == offsetof(Call, stack_pointer) && row.rip == Row::Place::expression &&
                         rip.is_valid && !rip.is_read && rip.name == kRsp &&
                         rip.offset == offsetof(Call, return_address) && row.rbp == Row::Place::same;
    return Rule(is_call ? RuleKind::in_call : RuleKind::unsupported, 0);
  }
  const bool is_usual = row.rip == Row::Place::in_frame && row.rip_offset == kReturnAddress;
  if (cfa.name != kRbp || !is_usual) return Rule(RuleKind::unsupported, 0);
  if (row.rbp == Row::Place::in_frame && fits(0, row.rbp_offset)) {
    return {RuleKind::from_memory, cfa.offset, SavedRbp::in_frame, row.rbp_offset};
  }
  const Simple rbp = simple_expression(memory, row.rbp_expression);
  const bool is_at_rbp =
      row.rbp == Row::Place::expression && rbp.is_valid && !rbp.is_read && rbp.name == kRbp && rbp.offset == 0;
  return is_at_rbp ? Rule(RuleKind::from_memory, cfa.offset, SavedRbp::at_rbp) : Rule(RuleKind::unsupported, 0);
}

Rule rule_of(FileMemory& memory, const Row& row, bool is_signal) {
  if (row.rip == Row::Place::undefined) return Rule(RuleKind::outermost, 0);
  if (row.cfa_expression != 0) return rule_by_expression(memory, row, is_signal);
  if (!fits(row.cfa_offset, row.rbp_offset) || !fits(0, row.rip_offset)) return Rule(RuleKind::unsupported, 0);
  const bool keeps_rbp = row.rbp == Row::Place::same;
  if (row.cfa_register == kRsp && keeps_rbp && row.rip == Row::Place::in_register && row.rip_register == kRdi) {
    return {RuleKind::in_rdi, row.cfa_offset};
  }
  if (row.rip != Row::Place::in_frame || !(keeps_rbp || row.rbp == Row::Place::in_frame)) {
    return Rule(RuleKind::unsupported, 0);
  }
  if (row.rip_offset != kReturnAddress) {
    const bool is_simple = row.cfa_register == kRsp && keeps_rbp;
    return is_simple ? Rule(RuleKind::other_place, row.cfa_offset, SavedRbp::same, row.rip_offset)
                     : Rule(RuleKind::unsupported, 0);
  }
  if (row.cfa_register != kRsp && row.cfa_register != kRbp) return Rule(RuleKind::unsupported, 0);
  return {row.cfa_register == kRsp ? RuleKind::from_rsp : RuleKind::from_rbp, row.cfa_offset,
          keeps_rbp ? SavedRbp::same : SavedRbp::in_frame, row.rbp_offset};
}

/// The entry (FDE) of the function that `address` may belong to, by the sorted table of the header; 0 if none.
std::uint64_t find_entry(FileMemory& memory, std::uint64_t header, std::uint64_t address) {
  constexpr unsigned char kSorted = 0x3b;  // 4 bytes each, relative to the header
  Reader in(memory, header);
  const unsigned char version = in.byte();
  const unsigned char start_encoding = in.byte();
  const unsigned char count_encoding = in.byte();
  const unsigned char table_encoding = in.byte();
  bool failed = false;
  in.pointer(start_encoding, failed);
  const std::uint64_t count = in.pointer(count_encoding, failed);
  if (version != 1 || failed || table_encoding != kSorted || count == 0) return 0;
  const std::uint64_t table = in.at();
  constexpr std::uint64_t kItemBytes = 8;
  const auto number_at = [&](std::uint64_t offset) {
    Reader item(memory, table + offset);
    const std::int64_t number{item.number<std::int32_t>()};
    failed = failed || !item.is_ok();
    return number;
  };
  const auto relative = static_cast<std::int64_t>(address - header);
  std::uint64_t least = 0;
  std::uint64_t end = count;
  while (least < end) {
    const std::uint64_t middle = least + (end - least) / 2;
    if (number_at(middle * kItemBytes) <= relative) {
      least = middle + 1;
    } else {
      end = middle;
    }
  }
  if (least == 0) return 0;
  const std::uint64_t entry = header + static_cast<std::uint64_t>(number_at((least - 1) * kItemBytes + 4));
  return failed || !in.is_ok() ? 0 : entry;
}

}  // namespace

Rule read_rule(const FileOfCode& file, std::uint64_t address) {
  const Rule unsupported(RuleKind::unsupported, 0);
  FileMemory memory(file.begin, file.end);
  const std::uint64_t entry = find_entry(memory, file.eh_frame_header, address);
  if (entry == 0) return {};
  Reader in(memory, entry);
  const std::uint64_t length = length_of(in);
  const std::uint64_t id = in.at();
  const std::uint64_t end = id + length;
  Common common;
  if (!read_common(memory, id - in.number<std::uint32_t>(), common)) return unsupported;
  bool failed = false;
  const std::uint64_t begin = in.pointer(common.pointers, failed);
  const std::uint64_t bytes = in.pointer(common.pointers & 0xf, failed);
  if (failed || !in.is_ok()) return unsupported;
  if (address - begin >= bytes) return {};
  if (common.has_more) in.skip(in.unsigned_leb());
  Row row;
  Row initial;
  constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
  Program program(memory, common, initial);
  if (!program.run(common.begin, common.end, 0, kToTheEnd, initial)) return unsupported;
  copy_row(row, initial);
  if (!in.is_ok() || !program.run(in.at(), end, begin, address, row)) return unsupported;
  return rule_of(memory, row, common.is_signal);
}

}  // namespace syscost::signal_safe
