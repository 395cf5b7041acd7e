// SPDX-License-Identifier: MIT
#include "extras/where/stub/cfi.h"

#include <elf.h>

#include <atomic>
#include <cstddef>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/where/stub/cfi_rules.h"
#include "extras/where/stub/unwind.h"

namespace syscost::signal_safe {
namespace {

static_assert(kModules < Rule::kNoModule);

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// The public part of the loader's struct link_map.
struct LinkMap {
  std::uint64_t bias;
  std::uint64_t name;
};

/// A copy of a text of the loader; empty if it is gone. Its room may be larger than it is.
const char* copy_of(std::uint64_t name) {
  constexpr std::uint32_t kStep = 64;  // of one page
  char part[kStep];
  std::uint32_t bytes = 0;
  for (bool is_whole = false; !is_whole && bytes < kMaxModuleName;) {
    const std::uint64_t at = name + bytes;
    const std::uint64_t count = kStep - at % kStep;
    if (!copy_in(part, at, count)) return "";
    for (std::uint64_t i = 0; i < count && !is_whole && bytes < kMaxModuleName; ++i) {
      is_whole = part[i] == 0;
      if (!is_whole) ++bytes;
    }
  }
  auto* copy = static_cast<char*>(take_where_memory(bytes + 1));
  return copy != nullptr && copy_in(copy, name, bytes) ? copy : "";
}

/// The build id in the notes at `notes`.
void read_build_id(KnownModule& module, std::uint64_t notes, std::uint64_t bytes) {
  const std::uint64_t end = notes + bytes;
  const auto padded = [](std::uint64_t length) { return (length + 3) & ~std::uint64_t{3}; };
  constexpr int kMostNotes = 64;  // real files have three or four
  Elf64_Nhdr note;
  for (int i = 0; i < kMostNotes && notes + sizeof note <= end && read_user(notes, note); ++i) {
    const std::uint64_t name = notes + sizeof note;
    const std::uint64_t content = name + padded(note.n_namesz);
    constexpr std::uint32_t kGnu = 0x0055'4e47;
    std::uint32_t found = 0;
    const bool is_gnu =
        note.n_namesz == sizeof kGnu && name + sizeof kGnu <= end && read_user(name, found) && found == kGnu;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID && content + note.n_descsz <= end && note.n_descsz <= kMaxBuildId) {
      if (copy_in(module.build_id, content, note.n_descsz)) module.build_id_bytes = note.n_descsz;
      return;
    }
    notes = content + padded(note.n_descsz);
  }
}

/// By the program headers, which are mapped with the file's beginning nearly always. Only the kernel knows how the
/// program has changed that memory.
void read_headers(KnownModule& module) {
  Elf64_Ehdr header;
  if (module.end - module.begin < sizeof header || !read_user(module.begin, header)) return;
  constexpr std::uint32_t kElf = 0x464c'457f;
  constexpr std::uint64_t kFirstPage = 4096;
  const std::uint64_t headers_end = header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (read_at<std::uint32_t>(reinterpret_cast<std::uint64_t>(&header)) != kElf ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff >= kFirstPage || headers_end > kFirstPage) {
    return;
  }
  // The notes lie in a segment that is mapped from the file's beginning on, or not at all.
  std::uint64_t mapped_end = module.end;
  for (std::uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (!read_user(module.begin + header.e_phoff + i * sizeof part, part)) return;
    const bool is_first = part.p_type == PT_LOAD && module.bias + part.p_vaddr == module.begin;
    if (is_first && part.p_filesz < module.end - module.begin) mapped_end = module.begin + part.p_filesz;
    const std::uint64_t notes = module.bias + part.p_vaddr;
    if (part.p_type != PT_NOTE || module.build_id_bytes != 0) continue;
    if (notes < module.begin || notes > mapped_end || part.p_filesz > mapped_end - notes) continue;
    read_build_id(module, notes, part.p_filesz);
  }
}

}  // namespace

std::uint32_t module_of(const FoundObject& found) {
  WhereState& where = syscost_where_state;
  const auto map = reinterpret_cast<std::uint64_t>(found.link_map);
  const std::uint32_t known = load(where.modules_used);
  for (std::uint32_t i = 0; i < known && i < kModules; ++i) {
    const KnownModule& module = where.modules[i];
    if (load(module.is_ready) != 0 && module.begin == found.begin && module.link_map == map &&
        load(module.is_retired) == 0) {
      return i;
    }
  }
  // Two threads that see one first at the same time make two of it, which have the same name.
  if (known >= kModules) return Rule::kNoModule;
  const std::uint32_t index = std::atomic_ref(where.modules_used).fetch_add(1);
  if (index >= kModules) return Rule::kNoModule;
  KnownModule& module = where.modules[index];
  LinkMap link{};
  module.name = "";
  // The loader may have unloaded the file by now.
  if (read_user(map, link)) module.name = copy_of(link.name);
  module.begin = found.begin;
  module.end = found.end;
  module.bias = link.bias;
  module.link_map = map;
  read_headers(module);
  std::atomic_ref(module.is_ready).store(1, std::memory_order_release);
  return index;
}

void forget_code(std::uint64_t begin, std::uint64_t bytes) {
  WhereState& where = syscost_where_state;
  std::atomic_ref(where.memory_epoch).fetch_add(1);
  bool had_code = false;
  const std::uint32_t known = load(where.modules_used);
  for (std::uint32_t i = 0; i < known && i < kModules; ++i) {
    KnownModule& module = where.modules[i];
    if (load(module.is_ready) == 0 || load(module.is_retired) != 0) continue;
    if (module.begin >= begin + bytes || module.end <= begin) continue;
    std::atomic_ref(module.is_retired).store(1);
    had_code = true;
  }
  if (had_code) std::atomic_ref(where.code_epoch).fetch_add(1);
}

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
