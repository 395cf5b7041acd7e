// SPDX-License-Identifier: MIT
#include "backends/dispatch/sites.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#if SYSCOST_HAS_ZYDIS
#include <Zydis/Zydis.h>
#endif

// libgcc's search of the unwind tables, which the C++ runtime rests on; it has no public header.
struct dwarf_eh_bases {  // NOLINT(readability-identifier-naming): libgcc's name
  void* tbase;
  void* dbase;
  void* func;
};
extern "C" const void* _Unwind_Find_FDE(const void* address, dwarf_eh_bases* bases);  // NOLINT: libgcc's name

namespace syscost::dispatch {
namespace {

constexpr std::size_t kSyscallBytes = 2;
// Functions of libc that call the kernel are short; longer ones are not worth the decoding.
constexpr std::ptrdiff_t kFarthest = 4096;
constexpr unsigned kRtSigreturn = 15;

struct Instruction {
  std::size_t bytes = 0;  ///< 0 = unknown
  bool may_move = false;  ///< Does the same elsewhere, and continues with the next instruction.
};

// ---- what compilers and libc's own assembler write before a syscall ------------------------------------------------

Instruction decode_usual(const unsigned char* code) {
  constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(code, kEndbr64, sizeof kEndbr64) == 0) return {4, false};
  std::size_t prefix = 0;
  if ((code[0] & 0xf0) == 0x40) prefix = 1;  // REX
  const bool is_wide = prefix == 1 && (code[0] & 8) != 0;
  const unsigned char opcode = code[prefix];
  const unsigned char modrm = code[prefix + 1];
  // mov $imm32,%reg
  if ((opcode & 0xf8) == 0xb8 && !is_wide) return {prefix + 5, true};
  // mov, xor, test, or between registers
  const bool is_plain = opcode == 0x89 || opcode == 0x8b || opcode == 0x31 || opcode == 0x85 || opcode == 0x09;
  if (is_plain && (modrm & 0xc0) == 0xc0) return {prefix + 2, true};
  // mov disp8(%rsp),%reg
  if (opcode == 0x8b && (modrm & 0xc7) == 0x44 && code[prefix + 2] == 0x24) return {prefix + 4, true};
  // cmpb $imm8,disp32(%rip): whether libc is single-threaded
  if (prefix == 0 && opcode == 0x80 && modrm == 0x3d) return {7, false};
  // je, jne disp8
  if (prefix == 0 && (opcode == 0x74 || opcode == 0x75)) return {2, false};
  // push, pop
  if ((opcode & 0xf0) == 0x50) return {prefix + 1, true};
  return {};
}

// ---- everything else ------------------------------------------------------------------------------------------------

#if SYSCOST_HAS_ZYDIS
struct Disassembler {
  decltype(&ZydisDecoderDecodeInstruction) decode = nullptr;
  ZydisDecoder decoder{};
};

const Disassembler* disassembler() {
  static const Disassembler* const loaded = []() -> const Disassembler* {
    static Disassembler made;
    void* library = dlopen(SYSCOST_ZYDIS_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    auto* init = reinterpret_cast<decltype(&ZydisDecoderInit)>(dlsym(library, "ZydisDecoderInit"));
    made.decode =
        reinterpret_cast<decltype(&ZydisDecoderDecodeInstruction)>(dlsym(library, "ZydisDecoderDecodeInstruction"));
    if (init == nullptr || made.decode == nullptr) return nullptr;
    return ZYAN_SUCCESS(init(&made.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ? &made : nullptr;
  }();
  return loaded;
}

Instruction decode_any(const unsigned char* code, const unsigned char* end) {
  const Disassembler* with = disassembler();
  if (with == nullptr) return {};
  ZydisDecodedInstruction decoded;
  const auto left = static_cast<std::size_t>(end - code);
  if (!ZYAN_SUCCESS(with->decode(&with->decoder, nullptr, code, std::min(left, kLongestInstruction), &decoded))) {
    return {};
  }
  const bool goes_elsewhere =
      (decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0 || decoded.meta.category == ZYDIS_CATEGORY_CALL ||
      decoded.meta.category == ZYDIS_CATEGORY_RET || decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
      decoded.meta.category == ZYDIS_CATEGORY_COND_BR || decoded.meta.category == ZYDIS_CATEGORY_SYSCALL ||
      decoded.meta.category == ZYDIS_CATEGORY_INTERRUPT;
  return {decoded.length, !goes_elsewhere};
}
#else
Instruction decode_any(const unsigned char* /*code*/, const unsigned char* /*end*/) {
  return {};
}
#endif

int find_text(dl_phdr_info* info, std::size_t /*size*/, void* into) {
  auto& text = *static_cast<Text*>(into);
  const auto* base = reinterpret_cast<const unsigned char*>(info->dlpi_addr);
  const auto* inside = reinterpret_cast<const unsigned char*>(&::getppid);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const unsigned char* begin = base + part.p_vaddr;
    if (inside < begin || inside >= begin + part.p_memsz) continue;
    // A static program's libc is its own text; it is not for us to tell the two apart.
    const bool is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
    if (!is_program) text = {begin, begin + part.p_memsz, info->dlpi_name, static_cast<std::int64_t>(part.p_offset)};
    return 1;
  }
  return 0;
}

}  // namespace

bool has_disassembler() {
#if SYSCOST_HAS_ZYDIS
  return disassembler() != nullptr;
#else
  return false;
#endif
}

Text libc_text() {
  static const Text text = [] {
    Text found;
    dl_iterate_phdr(find_text, &found);
    return found;
  }();
  return text;
}

std::optional<Site> prove_site(const unsigned char* return_address) {
  const Text text = libc_text();
  if (return_address < text.begin + kLongestInstruction || return_address > text.end) return std::nullopt;
  const unsigned char* syscall = return_address - kSyscallBytes;
  if (syscall[0] != 0x0f || syscall[1] != 0x05) return std::nullopt;
  dwarf_eh_bases bases{};
  if (_Unwind_Find_FDE(syscall, &bases) == nullptr || bases.func == nullptr) return std::nullopt;
  const auto* at = static_cast<const unsigned char*>(bases.func);
  if (at < text.begin || syscall - at > kFarthest) return std::nullopt;
  const unsigned char* last = nullptr;
  Instruction decoded;
  while (at < syscall) {
    decoded = decode_usual(at);
    if (decoded.bytes == 0) decoded = decode_any(at, text.end);
    if (decoded.bytes == 0) return std::nullopt;
    last = at;
    at += decoded.bytes;
  }
  if (at != syscall || last == nullptr || !decoded.may_move || decoded.bytes < kJumpBytes) return std::nullopt;
  // Unwinders know a signal's return by these bytes: they stay.
  constexpr unsigned char kReturnsFromSignal[] = {0x48, 0xc7, 0xc0, kRtSigreturn, 0, 0, 0};
  if (std::memcmp(syscall - sizeof kReturnsFromSignal, kReturnsFromSignal, sizeof kReturnsFromSignal) == 0) {
    return std::nullopt;
  }
  // What other processors fetch must change in one piece: within a cache line.
  const auto address = reinterpret_cast<std::uintptr_t>(last);
  constexpr std::uintptr_t kLine = 64;
  if (address / kLine != (address + kJumpBytes - 1) / kLine) return std::nullopt;
  return Site{const_cast<unsigned char*>(last), decoded.bytes, return_address};
}

}  // namespace syscost::dispatch
