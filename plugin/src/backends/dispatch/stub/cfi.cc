// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/cfi.h"

#include <cstddef>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kRbp = 6;  // The numbers of registers in the tables.
constexpr std::uint64_t kRsp = 7;
constexpr std::uint64_t kRip = 16;
constexpr std::uint64_t kRdi = 5;

class Reader {
 public:
  explicit Reader(const unsigned char* at) : at_(at) {}

  const unsigned char* at() const { return at_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  template <class T>
  T number() {
    T value;
    __builtin_memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  unsigned char byte() { return *at_++; }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned char part = byte();
      if (shift < 64) value |= std::uint64_t{part & 0x7fU} << shift;
      if ((part & 0x80) == 0) return value;
    }
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const unsigned char part = byte();
      if (shift < 64) value |= std::uint64_t{part & 0x7fU} << shift;
      shift += 7;
      if ((part & 0x80) != 0) continue;
      if (shift < 64 && (part & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  /// A pointer of DW_EH_PE_... `encoding`. Those of x86-64's compilers only; else 0, and `failed` is set.
  std::uint64_t pointer(unsigned char encoding, bool& failed) {
    const auto here = reinterpret_cast<std::uint64_t>(at_);
    std::uint64_t value = 0;
    switch (encoding & 0xf) {
      case 0x0:
      case 0x4:
      case 0xc:
        value = number<std::uint64_t>();
        break;
      case 0x3:
        value = number<std::uint32_t>();
        break;
      case 0xb:
        value = static_cast<std::uint64_t>(std::int64_t{number<std::int32_t>()});
        break;
      default:
        failed = true;
        return 0;
    }
    constexpr unsigned char kFromHere = 0x10;
    const unsigned char base = encoding & 0x70;
    if (base != 0 && base != kFromHere) failed = true;
    return base == kFromHere ? here + value : value;
  }

 private:
  const unsigned char* at_;
};

/// What all functions of one compiler's making have in common: a CIE.
struct Common {
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  unsigned char pointers = 0;
  bool is_signal = false;
  bool has_more = false;  ///< Each entry has a length of data that is not needed here.
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
};

/// The length that each entry begins with; 0 = the end of the table.
std::uint64_t length_of(Reader& in) {
  const std::uint64_t length = in.number<std::uint32_t>();
  constexpr std::uint64_t kLong = 0xffff'ffff;
  return length == kLong ? in.number<std::uint64_t>() : length;
}

bool read_common(const unsigned char* at, Common& common) {
  Reader in(at);
  const std::uint64_t length = length_of(in);
  common.end = in.at() + length;
  in.skip(sizeof(std::uint32_t));
  const unsigned char version = in.byte();
  const unsigned char* augmentation = in.at();
  while (in.byte() != 0) {
  }
  common.code_unit = in.unsigned_leb();
  common.data_unit = in.signed_leb();
  const std::uint64_t return_register = version == 1 ? in.byte() : in.unsigned_leb();
  if (return_register != kRip) return false;
  common.begin = in.at();
  if (*augmentation == 0) return true;
  if (*augmentation != 'z') return false;
  common.has_more = true;
  const std::uint64_t more = in.unsigned_leb();
  common.begin = in.at() + more;
  bool failed = false;
  for (const unsigned char* letter = augmentation + 1; *letter != 0; ++letter) {
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
  return !failed;
}

/// What holds at one instruction.
struct Row {
  enum class Place : std::uint8_t { same, in_frame, expression, in_register, undefined, other };
  std::uint64_t cfa_register = kRsp;
  std::int64_t cfa_offset = 0;
  const unsigned char* cfa_expression = nullptr;
  Place rbp = Place::same;
  Place rip = Place::same;
  std::int64_t rbp_offset = 0;
  std::int64_t rip_offset = 0;
  const unsigned char* rbp_expression = nullptr;  ///< With its length before it, like the others.
  const unsigned char* rip_expression = nullptr;
  std::uint64_t rip_register = 0;
};

/// Member by member: a call of memcpy must not come of it.
__attribute__((always_inline)) inline void copy_row(Row& to, const Row& from) {
  to.cfa_register = from.cfa_register;
  to.cfa_offset = from.cfa_offset;
  to.cfa_expression = from.cfa_expression;
  to.rbp = from.rbp;
  to.rip = from.rip;
  to.rbp_offset = from.rbp_offset;
  to.rip_offset = from.rip_offset;
  to.rbp_expression = from.rbp_expression;
  to.rip_expression = from.rip_expression;
  to.rip_register = from.rip_register;
}

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

constexpr std::uint32_t kMostRemembered = 6;

/// The program of an entry, as far as one instruction.
class Program {
 public:
  Program(const Common& common, const Row& initial) : common_(common), initial_(initial) {}

  /// Runs [begin, end) on `row`, from the instruction at `location` on, until one past `goal`. False for a program that
  /// is not understood.
  bool run(const unsigned char* begin, const unsigned char* end, std::uint64_t location, std::uint64_t goal, Row& row) {
    Reader in(begin);
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
      if (advance != 0 && location + advance > goal) return true;
      location += advance;
    }
    return true;
  }

 private:
  std::int64_t scaled(std::uint64_t number) const { return static_cast<std::int64_t>(number) * common_.data_unit; }

  // An instruction of the table each.
  // NOLINTNEXTLINE(readability-function-cognitive-complexity)
  bool run_one(std::uint64_t code, Reader& in, std::uint64_t location, std::uint64_t& advance, Row& row) {
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
        set_place(row, name, Row::Place::in_frame, in.signed_leb() * common_.data_unit);
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
        row.cfa_expression = nullptr;
        return true;
      case 0x12:  // def_cfa_sf
        row.cfa_register = in.unsigned_leb();
        row.cfa_offset = in.signed_leb() * common_.data_unit;
        row.cfa_expression = nullptr;
        return true;
      case 0x0d:  // def_cfa_register
        row.cfa_register = in.unsigned_leb();
        return true;
      case 0x0e:  // def_cfa_offset
        row.cfa_offset = static_cast<std::int64_t>(in.unsigned_leb());
        return true;
      case 0x13:  // def_cfa_offset_sf
        row.cfa_offset = in.signed_leb() * common_.data_unit;
        return true;
      case 0x0f:  // def_cfa_expression
        row.cfa_expression = in.at();
        in.skip(in.unsigned_leb());
        return true;
      case 0x10: {  // expression
        name = in.unsigned_leb();
        const unsigned char* expression = in.at();
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

  const Common& common_;
  const Row& initial_;
  Row remembered_[kMostRemembered];
  std::uint32_t depth_ = 0;
};

/// `{register + offset}`, or what stands in memory there.
struct Simple {
  bool is_valid = false;
  bool is_read = false;
  std::uint64_t name = 0;
  std::int64_t offset = 0;
};
Simple simple_expression(const unsigned char* expression) {
  constexpr unsigned char kFirstRegister = 0x70;
  constexpr unsigned char kRead = 0x06;
  if (expression == nullptr) return {};
  Reader in(expression);
  const std::uint64_t bytes = in.unsigned_leb();
  const unsigned char* end = in.at() + bytes;
  if (bytes == 0) return {};
  Simple found;
  const unsigned char code = in.byte();
  if (code < kFirstRegister || code >= kFirstRegister + kRip) return {};
  found.name = static_cast<std::uint64_t>(code - kFirstRegister);
  found.offset = in.signed_leb();
  if (in.at() < end && *in.at() == kRead) {
    found.is_read = true;
    in.skip(1);
  }
  found.is_valid = in.at() == end;
  return found;
}

/// The expression that linkers write for the procedure linkage table; the number of the instruction in it, or -1.
std::int64_t plt_threshold(const unsigned char* expression) {
  constexpr unsigned char kAnyLiteral = 0;
  // rsp + 8 + ((rip & 15) >= N) << 3
  constexpr unsigned char kBytes[] = {11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, kAnyLiteral, 0x2a, 0x33, 0x24, 0x22};
  constexpr std::size_t kLiteralAt = 7;
  constexpr unsigned char kFirstLiteral = 0x30;
  for (std::size_t i = 0; i < sizeof kBytes; ++i) {
    if (i != kLiteralAt && expression[i] != kBytes[i]) return -1;
  }
  return expression[kLiteralAt] - kFirstLiteral;
}

constexpr std::int64_t kReturnAddress = -8;  // From where the caller's frame begins: what a call pushes.
// In the kernel's frame of a signal: the offset of rsp in the registers.
constexpr std::int64_t kRspInRegisters = 120;

bool fits(std::int64_t cfa, std::int64_t offset) {
  return cfa <= Rule::kMostCfa && cfa >= -Rule::kMostCfa && offset <= Rule::kMostOffset && offset >= -Rule::kMostOffset;
}

Rule rule_by_expression(const Row& row, bool is_signal) {
  const Simple cfa = simple_expression(row.cfa_expression);
  if (!cfa.is_valid) {
    const std::int64_t threshold = plt_threshold(row.cfa_expression);
    return threshold < 0 ? Rule(RuleKind::unsupported, 0) : Rule(RuleKind::plt, threshold);
  }
  if (!cfa.is_read || !fits(cfa.offset, 0)) return Rule(RuleKind::unsupported, 0);
  if (cfa.name == kRsp && is_signal) return Rule(RuleKind::signal, cfa.offset - kRspInRegisters);
  if (cfa.name == kRsp) {
    const Simple rip = simple_expression(row.rip_expression);
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
  const Simple rbp = simple_expression(row.rbp_expression);
  const bool is_at_rbp =
      row.rbp == Row::Place::expression && rbp.is_valid && !rbp.is_read && rbp.name == kRbp && rbp.offset == 0;
  return is_at_rbp ? Rule(RuleKind::from_memory, cfa.offset, SavedRbp::at_rbp) : Rule(RuleKind::unsupported, 0);
}

Rule rule_of(const Row& row, bool is_signal) {
  if (row.rip == Row::Place::undefined) return Rule(RuleKind::outermost, 0);
  if (row.cfa_expression != nullptr) return rule_by_expression(row, is_signal);
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

/// The entry (FDE) of the function that `address` may belong to, by the sorted table of the header; null if none.
const unsigned char* find_entry(const unsigned char* header, std::uint64_t address) {
  constexpr unsigned char kSorted = 0x3b;  // 4 bytes each, relative to the header
  Reader in(header);
  const unsigned char version = in.byte();
  const unsigned char start_encoding = in.byte();
  const unsigned char count_encoding = in.byte();
  const unsigned char table_encoding = in.byte();
  bool failed = false;
  in.pointer(start_encoding, failed);
  const std::uint64_t count = in.pointer(count_encoding, failed);
  if (version != 1 || failed || table_encoding != kSorted || count == 0) return nullptr;
  const unsigned char* table = in.at();
  constexpr std::uint64_t kItemBytes = 8;
  const auto number_at = [&](std::uint64_t offset) {
    return std::int64_t{Reader(table + offset).number<std::int32_t>()};
  };
  const auto relative = static_cast<std::int64_t>(address - reinterpret_cast<std::uint64_t>(header));
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
  return least == 0 ? nullptr : header + number_at((least - 1) * kItemBytes + 4);
}

}  // namespace

Rule read_rule(const void* eh_frame_header, std::uint64_t address) {
  const unsigned char* entry = find_entry(static_cast<const unsigned char*>(eh_frame_header), address);
  if (entry == nullptr) return {};
  Reader in(entry);
  const std::uint64_t length = length_of(in);
  const unsigned char* end = in.at() + length;
  const unsigned char* id = in.at();
  Common common;
  if (!read_common(id - in.number<std::uint32_t>(), common)) return Rule(RuleKind::unsupported, 0);
  bool failed = false;
  const std::uint64_t begin = in.pointer(common.pointers, failed);
  const std::uint64_t bytes = in.pointer(common.pointers & 0xf, failed);
  if (failed) return Rule(RuleKind::unsupported, 0);
  if (address - begin >= bytes) return {};
  if (common.has_more) in.skip(in.unsigned_leb());
  Row row;
  Row initial;
  constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
  Program program(common, initial);
  if (!program.run(common.begin, common.end, 0, kToTheEnd, initial)) return Rule(RuleKind::unsupported, 0);
  copy_row(row, initial);
  if (!program.run(in.at(), end, begin, address, row)) return Rule(RuleKind::unsupported, 0);
  return rule_of(row, common.is_signal);
}

}  // namespace syscost::signal_safe
