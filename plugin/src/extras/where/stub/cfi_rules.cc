// SPDX-License-Identifier: MIT
#include "extras/where/stub/cfi_rules.h"

#include <atomic>

#include "extras/where/stub/cfi.h"

namespace syscost::signal_safe::cfi {

bool read_common(FileMemory& memory, std::uint64_t at, Common& common) {
  Reader in(memory, at);
  const std::uint64_t length = length_of(in);
  common.end = in.at() + length;
  in.skip(sizeof(std::uint32_t));
  const unsigned char version = in.byte();
  constexpr std::uint32_t kMostLetters = 8;
  unsigned char letters[kMostLetters] = {};
  for (std::uint32_t i = 0; (letters[i] = in.byte()) != 0; ++i) {
    if (i == kMostLetters - 1) return false;
  }
  common.code_unit = in.unsigned_leb();
  common.data_unit = in.signed_leb();
  const std::uint64_t return_register = version == 1 ? in.byte() : in.unsigned_leb();
  if (return_register != kRip || !in.is_ok()) return false;
  common.begin = in.at();
  if (letters[0] == 0) return true;
  if (letters[0] != 'z') return false;
  common.has_more = true;
  const std::uint64_t more = in.unsigned_leb();
  common.begin = in.at() + more;
  bool failed = false;
  for (const unsigned char* letter = letters + 1; *letter != 0; ++letter) {
    switch (*letter) {
      case 'R':
        common.pointers = in.byte();
        break;
      case 'P': {
        const unsigned char encoding = in.byte();
        in.pointer(encoding & 0xf, failed);
        break;
      }
      case 'L':
        in.skip(1);
        break;
      case 'S':
        common.is_signal = true;
        break;
      default:
        return false;
    }
  }
  return !failed && in.is_ok();
}

namespace {

void set_place(Row& row, std::uint64_t name, Row::Place place, std::int64_t offset) {
  if (name == kRbp) {
    row.rbp = place;
    row.rbp_offset = offset;
  } else if (name == kRip) {
    row.rip = place;
    row.rip_offset = offset;
  }
}

void restore(Row& row, std::uint64_t name, const Row& initial) {
  if (name == kRbp) {
    row.rbp = initial.rbp;
    row.rbp_offset = initial.rbp_offset;
    row.rbp_expression = initial.rbp_expression;
  } else if (name == kRip) {
    row.rip = initial.rip;
    row.rip_offset = initial.rip_offset;
    row.rip_expression = initial.rip_expression;
    row.rip_register = initial.rip_register;
  }
}

}  // namespace

bool Program::run(std::uint64_t begin, std::uint64_t end, std::uint64_t location, std::uint64_t goal, Row& row) {
  Reader in(memory_, begin);
  while (in.at() < end) {
    const unsigned char code = in.byte();
    std::uint64_t advance = 0;
    const std::uint64_t low = code & 0x3f;
    switch (code & 0xc0) {
      case 0x40:
        advance = low * common_.code_unit;
        break;
      case 0x80:
        set_place(row, low, Row::Place::in_frame, scaled(in.unsigned_leb()));
        break;
      case 0xc0:
        restore(row, low, initial_);
        break;
      default:
        if (!run_one(low, in, location, advance, row)) return false;
    }
    if (!in.is_ok()) return false;
    if (advance != 0 && location + advance > goal) return true;
    location += advance;
  }
  return true;
}

// An instruction of the table each.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
bool Program::run_one(std::uint64_t code, Reader& in, std::uint64_t location, std::uint64_t& advance, Row& row) {
  std::uint64_t name = 0;
  switch (code) {
    case 0x00:  // nop
      return true;
    case 0x01: {  // set_loc
      bool failed = false;
      advance = in.pointer(common_.pointers, failed) - location;
      return !failed;
    }
    case 0x02:  // advance_loc1, 2, 4
      advance = in.byte() * common_.code_unit;
      return true;
    case 0x03:
      advance = in.number<std::uint16_t>() * common_.code_unit;
      return true;
    case 0x04:
      advance = in.number<std::uint32_t>() * common_.code_unit;
      return true;
    case 0x05:  // offset_extended
      name = in.unsigned_leb();
      set_place(row, name, Row::Place::in_frame, scaled(in.unsigned_leb()));
      return true;
    case 0x11:  // offset_extended_sf
      name = in.unsigned_leb();
      set_place(row, name, Row::Place::in_frame, scaled(static_cast<std::uint64_t>(in.signed_leb())));
      return true;
    case 0x06:  // restore_extended
      restore(row, in.unsigned_leb(), initial_);
      return true;
    case 0x07:  // undefined
      set_place(row, in.unsigned_leb(), Row::Place::undefined, 0);
      return true;
    case 0x08:  // same_value
      set_place(row, in.unsigned_leb(), Row::Place::same, 0);
      return true;
    case 0x09: {  // register
      name = in.unsigned_leb();
      const std::uint64_t from = in.unsigned_leb();
      set_place(row, name, Row::Place::in_register, 0);
      if (name == kRip) row.rip_register = from;
      return true;
    }
    case 0x0a:  // remember_state
      if (depth_ == kMostRemembered) return false;
      copy_row(remembered_[depth_++], row);
      return true;
    case 0x0b:  // restore_state
      if (depth_ == 0) return false;
      copy_row(row, remembered_[--depth_]);
      return true;
    case 0x0c:  // def_cfa
      row.cfa_register = in.unsigned_leb();
      row.cfa_offset = static_cast<std::int64_t>(in.unsigned_leb());
      row.cfa_expression = 0;
      return true;
    case 0x12:  // def_cfa_sf
      row.cfa_register = in.unsigned_leb();
      row.cfa_offset = scaled(static_cast<std::uint64_t>(in.signed_leb()));
      row.cfa_expression = 0;
      return true;
    case 0x0d:  // def_cfa_register
      row.cfa_register = in.unsigned_leb();
      return true;
    case 0x0e:  // def_cfa_offset
      row.cfa_offset = static_cast<std::int64_t>(in.unsigned_leb());
      return true;
    case 0x13:  // def_cfa_offset_sf
      row.cfa_offset = scaled(static_cast<std::uint64_t>(in.signed_leb()));
      return true;
    case 0x0f:  // def_cfa_expression
      row.cfa_expression = in.at();
      in.skip(in.unsigned_leb());
      return true;
    case 0x10: {  // expression
      name = in.unsigned_leb();
      const std::uint64_t expression = in.at();
      in.skip(in.unsigned_leb());
      set_place(row, name, Row::Place::expression, 0);
      if (name == kRbp) row.rbp_expression = expression;
      if (name == kRip) row.rip_expression = expression;
      return true;
    }
    case 0x16:  // val_expression
      name = in.unsigned_leb();
      in.skip(in.unsigned_leb());
      set_place(row, name, Row::Place::other, 0);
      return true;
    case 0x14:  // val_offset
      name = in.unsigned_leb();
      in.unsigned_leb();
      set_place(row, name, Row::Place::other, 0);
      return true;
    case 0x15:  // val_offset_sf
      name = in.unsigned_leb();
      in.signed_leb();
      set_place(row, name, Row::Place::other, 0);
      return true;
    case 0x2e:  // GNU_args_size
      in.unsigned_leb();
      return true;
    default:
      return false;
  }
}

}  // namespace syscost::signal_safe::cfi

namespace syscost::signal_safe {
namespace {

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// _dl_find_object, which may use any register that a function may use.
bool find_object(Walker& walker, std::uint64_t address, FoundObject& found) {
  const std::uint64_t mask = syscost_where_state.vector_mask;
  const auto low = static_cast<std::uint32_t>(mask);
  const auto high = static_cast<std::uint32_t>(mask >> 32);
  if (mask != 0) {
    asm volatile("xsave64 %0" : "+m"(walker.vectors) : "a"(low), "d"(high) : "memory");
  } else {
    asm volatile("fxsave64 %0" : "+m"(walker.vectors) : : "memory");
  }
  // The program may have set the direction flag.
  std::uint64_t flags = 0;
  asm volatile("pushfq\n\tpop %0\n\tcld" : "=r"(flags) : : "memory", "cc");
  const int missing = syscost_where_state.find_object(reinterpret_cast<void*>(address), &found);
  asm volatile("push %0\n\tpopfq" : : "r"(flags) : "memory", "cc");
  if (mask != 0) {
    asm volatile("xrstor64 %0" : : "m"(walker.vectors), "a"(low), "d"(high) : "memory");
  } else {
    asm volatile("fxrstor64 %0" : : "m"(walker.vectors) : "memory");
  }
  return missing == 0;
}

Rule find_rule(Walker& walker, std::uint64_t address, bool& is_in_file) {
  FoundObject found;
  found.eh_frame_header = nullptr;
  is_in_file = find_object(walker, address, found);
  if (!is_in_file) return {};
  const FileOfCode file{found.begin, found.end, reinterpret_cast<std::uint64_t>(found.eh_frame_header)};
  const Rule rule = found.eh_frame_header != nullptr ? read_rule(file, address) : Rule();
  return rule.in_module(module_of(found));
}

std::uint64_t mixed(std::uint64_t address) {
  return address * 0x9e37'79b9'7f4a'7c15;
}

}  // namespace

Rule rule_at(Walker& walker, std::uint64_t address) {
  const std::uint64_t mix = mixed(address) ^ load(syscost_where_state.code_epoch) * 0xd6e8'feb8'6659'fd93;
  KeptRule& kept = syscost_where_state.rules[mixed(address) >> 50];
  static_assert(kRules == 1 << (64 - 50));
  bool is_in_file = false;
  // An empty place would look like a rule of it. It is no address of code: mostly it is 0.
  if (mix == 0) return find_rule(walker, address, is_in_file);
  const std::uint64_t word = std::atomic_ref(kept.rule).load(std::memory_order_relaxed);
  if ((std::atomic_ref(kept.check).load(std::memory_order_relaxed) ^ word) == mix) return Rule(word);
  const Rule fresh = find_rule(walker, address, is_in_file);
  // Elsewhere a file may be mapped at any time.
  if (!is_in_file) return fresh;
  std::atomic_ref(kept.rule).store(fresh.word(), std::memory_order_relaxed);
  std::atomic_ref(kept.check).store(fresh.word() ^ mix, std::memory_order_relaxed);
  return fresh;
}

}  // namespace syscost::signal_safe
