// SPDX-License-Identifier: MIT
#include "backends/dispatch/functions.h"

#include <link.h>

#include <cstring>
#include <string_view>

#include "libc/symbols.h"

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
