// SPDX-License-Identifier: MIT
#include "backends/dispatch/instructions.h"

#include <link.h>

#include <cstring>
#include <string_view>

#include "libc/symbols.h"

namespace syscost::dispatch {
namespace {

/// The parts that follow an opcode.
enum Shape : std::uint8_t {
  kNoShape = 0,
  kAlone = 1,       // nothing
  kModrm = 2,       // an operand in memory or a register
  kByte = 4,        // an immediate of one byte
  kWord = 8,        // of two
  kOperand = 16,    // of four; of two after 0x66
  kRelative8 = 32,  // a distance
  kRelative32 = 64,
};

/// The opcodes from `first` to `last` of one map.
struct Opcodes {
  unsigned char first, last;
  unsigned shape;
};

constexpr Opcodes kOneByte[] = {
    {0x50, 0x5f, kAlone},         {0x63, 0x63, kModrm},
    {0x68, 0x68, kOperand},       {0x69, 0x69, kModrm | kOperand},
    {0x6a, 0x6a, kByte},          {0x6b, 0x6b, kModrm | kByte},
    {0x6c, 0x6f, kAlone},         {0x70, 0x7f, kRelative8},
    {0x80, 0x80, kModrm | kByte}, {0x81, 0x81, kModrm | kOperand},
    {0x83, 0x83, kModrm | kByte}, {0x84, 0x8e, kModrm},
    {0x8f, 0x8f, kModrm},         {0x90, 0x99, kAlone},
    {0x9b, 0x9f, kAlone},         {0xa4, 0xa7, kAlone},
    {0xa8, 0xa8, kByte},          {0xa9, 0xa9, kOperand},
    {0xaa, 0xaf, kAlone},         {0xb0, 0xb7, kByte},
    {0xb8, 0xbf, kOperand},       {0xc0, 0xc1, kModrm | kByte},
    {0xc2, 0xc2, kWord},          {0xc3, 0xc3, kAlone},
    {0xc6, 0xc6, kModrm | kByte}, {0xc7, 0xc7, kModrm | kOperand},
    {0xc8, 0xc8, kWord | kByte},  {0xc9, 0xc9, kAlone},
    {0xcd, 0xcd, kByte},          {0xd0, 0xd3, kModrm},
    {0xd7, 0xd7, kAlone},         {0xd8, 0xdf, kModrm},
    {0xe0, 0xe3, kRelative8},     {0xe8, 0xe9, kRelative32},
    {0xeb, 0xeb, kRelative8},     {0xf4, 0xf5, kAlone},
    {0xf6, 0xf7, kModrm},         {0xf8, 0xfd, kAlone},
    {0xfe, 0xff, kModrm},
};

constexpr Opcodes kTwoByte[] = {
    {0x01, 0x01, kModrm}, {0x05, 0x05, kAlone},         {0x0b, 0x0b, kAlone}, {0x0d, 0x0d, kModrm},
    {0x10, 0x1f, kModrm}, {0x28, 0x2f, kModrm},         {0x31, 0x31, kAlone}, {0x34, 0x34, kAlone},
    {0x40, 0x6f, kModrm}, {0x70, 0x73, kModrm | kByte}, {0x74, 0x76, kModrm}, {0x77, 0x77, kAlone},
    {0x7c, 0x7f, kModrm}, {0x80, 0x8f, kRelative32},    {0x90, 0x9f, kModrm}, {0xa0, 0xa2, kAlone},
    {0xa3, 0xa3, kModrm}, {0xa4, 0xa4, kModrm | kByte}, {0xa5, 0xa5, kModrm}, {0xa8, 0xa9, kAlone},
    {0xab, 0xab, kModrm}, {0xac, 0xac, kModrm | kByte}, {0xad, 0xb1, kModrm}, {0xb3, 0xb3, kModrm},
    {0xb6, 0xb8, kModrm}, {0xba, 0xba, kModrm | kByte}, {0xbb, 0xc1, kModrm}, {0xc2, 0xc2, kModrm | kByte},
    {0xc3, 0xc3, kModrm}, {0xc4, 0xc6, kModrm | kByte}, {0xc7, 0xc7, kModrm}, {0xc8, 0xcf, kAlone},
    {0xd0, 0xfe, kModrm},
};

template <std::size_t kCount>
constexpr unsigned shape_in(const Opcodes (&map)[kCount], unsigned char opcode) {
  for (const Opcodes& some : map) {
    if (opcode >= some.first && opcode <= some.last) return some.shape;
  }
  return kNoShape;
}

struct Shapes {
  std::uint8_t one_byte[256];
  std::uint8_t two_byte[256];
};

constexpr Shapes kShapes = [] {
  Shapes made{};
  for (unsigned i = 0; i < 256; ++i) {
    const auto opcode = static_cast<unsigned char>(i);
    made.one_byte[i] = static_cast<std::uint8_t>(shape_in(kOneByte, opcode));
    made.two_byte[i] = static_cast<std::uint8_t>(shape_in(kTwoByte, opcode));
    // add, or, adc, sbb, and, sub, xor, cmp: the same eight shapes
    if (i >= 0x40) continue;
    constexpr std::uint8_t kArithmetic[] = {kModrm, kModrm, kModrm, kModrm, kByte, kOperand, kNoShape, kNoShape};
    made.one_byte[i] = kArithmetic[i % 8];
  }
  return made;
}();

/// One instruction while it is read.
class Reader {
 public:
  Reader(const unsigned char* code, const unsigned char* end) : code_(code), at_(code) {
    const auto left = static_cast<std::size_t>(end - code);
    // Bytes beyond the end read as zeros, and make the instruction too long.
    end_ = code + (left < kLongestInstruction ? left : kLongestInstruction);
  }

  Instruction read() {
    read_prefixes();
    const unsigned char opcode = next();
    unsigned shape = kNoShape;
    if (opcode == 0xc5 || opcode == 0xc4 || opcode == 0x62) {
      shape = read_vector_prefix(opcode);
    } else if (opcode == 0x0f) {
      shape = read_two_byte_opcode();
    } else {
      shape = read_one_byte_opcode(opcode);
    }
    if (shape == kNoShape) return {};
    if ((shape & kModrm) != 0) skip_operand();
    if ((shape & kByte) != 0) skip(1);
    if ((shape & kWord) != 0) skip(2);
    if ((shape & kOperand) != 0) skip(immediate_bytes_);
    // Processors disagree on what 0x66 does to a jump.
    if ((shape & (kRelative8 | kRelative32)) != 0 && has_66_) return {};
    if ((shape & kRelative8) != 0) skip(1);
    if ((shape & kRelative32) != 0) skip(4);
    if (at_ > end_) return {};
    found_.bytes = static_cast<std::size_t>(at_ - code_);
    return found_;
  }

 private:
  unsigned char peek() const { return at_ < end_ ? *at_ : 0; }
  unsigned char next() {
    const unsigned char byte = peek();
    ++at_;
    return byte;
  }
  void skip(std::size_t bytes) { at_ += bytes; }

  void read_prefixes() {
    for (;; ++at_) {
      const unsigned char byte = peek();
      if (byte == 0x66) has_66_ = true;
      if (byte == 0xf2 || byte == 0xf3) repeats_ = true;
      const bool is_prefix = byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
                             byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
                             byte == 0x65;
      if (!is_prefix || at_ >= end_) break;
    }
    if ((peek() & 0xf0) == 0x40) rex_ = next();
    immediate_bytes_ = has_66_ && (rex_ & 8) == 0 ? 2 : 4;
  }

  unsigned read_one_byte_opcode(unsigned char opcode) {
    const unsigned char modrm = peek();
    const unsigned reg = modrm >> 3 & 7;
    switch (opcode) {
      case 0x8f:  // another map, unless pop
        return reg == 0 ? kModrm : kNoShape;
      case 0x90:
        found_.is_nop = rex_ == 0 && !repeats_;
        break;
      case 0xb8:
      case 0xb9:
      case 0xba:
      case 0xbb:
      case 0xbc:
      case 0xbd:
      case 0xbe:
      case 0xbf:
        if ((rex_ & 8) != 0) immediate_bytes_ = 8;
        break;
      case 0xc2:
      case 0xc3:
      case 0xf4:
        found_.flow = Flow::ends;
        break;
      case 0xc6:
      case 0xc7:
        if (modrm == 0xf8) return kNoShape;  // of transactions: xabort, xbegin
        break;
      case 0xcd:
        found_.flow = Flow::kernel;
        break;
      case 0xe8:
        found_.flow = Flow::call;
        break;
      case 0xe9:
      case 0xeb:
        found_.flow = Flow::jump;
        break;
      case 0xf6:
        return reg < 2 ? kModrm | kByte : kModrm;
      case 0xf7:
        return reg < 2 ? kModrm | kOperand : kModrm;
      case 0xff:
        if (reg == 7) return kNoShape;
        if (reg == 2 || reg == 3) found_.flow = Flow::call;
        if (reg == 4 || reg == 5) found_.flow = Flow::indirect_jump;
        break;
      default:
        if ((opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3)) found_.flow = Flow::branch;
    }
    return kShapes.one_byte[opcode];
  }

  unsigned read_two_byte_opcode() {
    const unsigned char opcode = next();
    if (opcode == 0x38 || opcode == 0x3a) {
      skip(1);
      return opcode == 0x38 ? kModrm : kModrm | kByte;
    }
    if (opcode == 0x01 && peek() == 0xd5) return kNoShape;  // xend
    if (opcode == 0x05 || opcode == 0x34) found_.flow = Flow::kernel;
    if (opcode == 0x0b) found_.flow = Flow::ends;
    if ((opcode & 0xf0) == 0x80) found_.flow = Flow::branch;
    if (opcode == 0x1f) found_.is_nop = (peek() >> 3 & 7) == 0;
    return kShapes.two_byte[opcode];
  }

  /// Reads a VEX or EVEX prefix; returns the map of the opcode.
  unsigned read_vector_prefix(unsigned char prefix) {
    if (rex_ != 0 || has_66_ || repeats_) return kNoShape;
    const unsigned map = prefix == 0xc5 ? 1 : next() & (prefix == 0xc4 ? 0x1f : 7);
    skip(prefix == 0x62 ? 2 : 1);
    const unsigned char opcode = next();
    if (map == 2) return kModrm;
    if (map == 3) return kModrm | kByte;
    if (map != 1) return kNoShape;
    if (opcode == 0x77) return kAlone;
    if ((opcode & 0xf0) == 0x80) return kNoShape;  // jumps of one old coprocessor
    const bool has_byte = (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
    return has_byte ? kModrm | kByte : kModrm;
  }

  void skip_operand() {
    const unsigned char modrm = next();
    const unsigned mode = modrm >> 6;
    const unsigned place = modrm & 7;
    if (mode == 3) return;
    const bool has_index = place == 4;
    const unsigned base = has_index ? next() & 7 : place;
    if (mode == 1) skip(1);
    if (mode == 2 || (mode == 0 && base == 5)) skip(4);
    if (mode == 0 && !has_index && base == 5) found_.is_relative = true;
  }

  const unsigned char* code_;
  const unsigned char* at_;
  const unsigned char* end_ = nullptr;
  bool has_66_ = false;
  bool repeats_ = false;
  unsigned char rex_ = 0;
  std::size_t immediate_bytes_ = 4;
  Instruction found_;
};

}  // namespace

Instruction decode(const unsigned char* code, const unsigned char* end) {
  return Reader(code, end).read();
}

}  // namespace syscost::dispatch

// libgcc's search of the unwind tables, which the C++ runtime uses. It has no public header.
struct dwarf_eh_bases {  // NOLINT(readability-identifier-naming): libgcc's name
  void* tbase;
  void* dbase;
  void* func;
};
extern "C" const void* _Unwind_Find_FDE(const void* address, dwarf_eh_bases* bases);  // NOLINT: libgcc's name

namespace syscost::dispatch {
namespace {

constexpr unsigned char kBreakpoint = 0xcc;  // some linkers pad with it

int find_text(dl_phdr_info* info, std::size_t /*size*/, void* into) {
  auto& text = *static_cast<Text*>(into);
  const link_map* const libc = libc::libc_module();
  // A static program holds libc in its own text; we do not separate the two.
  if (libc == nullptr) return 1;
  if (info->dlpi_addr != libc->l_addr || info->dlpi_name == nullptr ||
      libc->l_name != std::string_view(info->dlpi_name))
    return 0;
  const auto* base = reinterpret_cast<const unsigned char*>(info->dlpi_addr);
  const auto* inside = static_cast<const unsigned char*>(libc::Module(libc).find("", "getppid"));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const unsigned char* begin = base + part.p_vaddr;
    if (inside < begin || inside >= begin + part.p_memsz) continue;
    text = {begin, begin + part.p_memsz, info->dlpi_name, static_cast<std::int64_t>(part.p_offset)};
    return 1;
  }
  return 0;
}

template <class Value>
Value value_at(const unsigned char* address) {
  Value value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

bool is_syscall(const unsigned char* code) {
  return code[0] == 0x0f && code[1] == 0x05;
}

}  // namespace

Text libc_text() {
  static const Text text = [] {
    Text found;
    dl_iterate_phdr(find_text, &found);
    return found;
  }();
  return text;
}

std::optional<Function> find_function(const unsigned char* address) {
  dwarf_eh_bases bases{};
  const auto* entry = static_cast<const unsigned char*>(_Unwind_Find_FDE(address, &bases));
  if (entry == nullptr || bases.func == nullptr) return std::nullopt;
  // An entry of .eh_frame: its length, the way back to what it shares with others, where its code begins, how long that
  // is. Both numbers have four bytes and the first is relative to itself, or the entry is one that we cannot read.
  const unsigned char* const shared = entry + 4 - value_at<std::uint32_t>(entry + 4);
  const unsigned char* const begin = entry + 8 + value_at<std::int32_t>(entry + 8);
  const unsigned char* const end = begin + value_at<std::uint32_t>(entry + 12);
  if (begin != bases.func || address < begin || address >= end) return std::nullopt;
  // The shared part has its length, 0, its version, and a letter for each thing that its entries have.
  const char* const letters = reinterpret_cast<const char*>(shared + 9);
  return Function{begin, end, std::strchr(letters, 'L') != nullptr};
}

FunctionCode read_code(const Function& function, const Text& text) {
  FunctionCode code;
  code.function = function;
  const unsigned char* before = nullptr;
  Instruction last;
  last.flow = Flow::next;
  bool is_unreached = false;  // the instruction at hand
  const unsigned char* at = function.begin;
  while (at < function.end) {
    const Instruction here = decode(at, function.end);
    if (here.bytes == 0) return code;
    if (here.flow == Flow::indirect_jump) code.has_indirect_jump = true;
    if (here.flow == Flow::kernel && is_syscall(at)) code.calls.push_back({at, before, last});
    is_unreached = here.is_nop && (is_unreached || last.never_goes_on());
    if (is_unreached) {
      if (last.never_goes_on()) code.unreached.push_back({at, at});
      code.unreached.back().end = at + here.bytes;
    }
    before = at;
    last = here;
    at += here.bytes;
  }
  code.is_whole = true;
  code.never_falls_out = last.never_goes_on();
  // libc's clone has no entry for what its child executes, too.
  if (last.flow == Flow::next && function.end < text.end - 1 && is_syscall(function.end)) {
    code.calls.push_back({function.end, before, last});
  }
  return code;
}

bool may_end_in_jump(const Function& function, const unsigned char* end) {
  const unsigned char* at = function.begin;
  Instruction last;
  while (at < end) {
    last = decode(at, function.end);
    if (last.bytes == 0) return true;
    at += last.bytes;
  }
  return at == end && (last.flow == Flow::call || last.flow == Flow::branch || last.flow == Flow::jump);
}

Padding padding_after(const FunctionCode& code, const Text& text, FindFunction find) {
  constexpr std::ptrdiff_t kMost = 64;  // more is no alignment
  const unsigned char* const begin = code.function.end;
  if (!code.is_whole || !code.never_falls_out) return {begin, begin};
  const unsigned char* at = begin;
  while (at < text.end && at - begin < kMost) {
    if (const std::optional<Function> next = find(at); next.has_value()) {
      return next->begin == at ? Padding{begin, at} : Padding{begin, begin};
    }
    const Instruction here = decode(at, text.end);
    if (here.is_nop) {
      at += here.bytes;
    } else if (*at == kBreakpoint) {
      ++at;
    } else {
      break;
    }
  }
  return {begin, begin};
}

}  // namespace syscost::dispatch
