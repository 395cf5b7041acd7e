// SPDX-License-Identifier: MIT
#include "agent/find/modules.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "agent/find/file_kind.h"
#include "libc/symbols.h"

namespace syscost::agent {
namespace {

struct Visit {
  bool (*visit)(const Module& module, void* context);
  void* context;
};

bool contains(const char* text, const char* part) {
  return std::string_view(text).find(part) != std::string_view::npos;
}

const char* file_name(const char* path) {
  return path + std::string_view(path).rfind('/') + 1;  // none: npos + 1 is 0
}

bool is_of_the_system_or_ours(const char* path) {
  const char* const name = file_name(path);
  for (const char* const beginning : {"libc.so", "ld-linux", "ld-musl", "libsyscost", "syscost-guest", "linux-vdso"}) {
    if (SYSCOST_LIBC(strncmp)(name, beginning, std::strlen(beginning)) == 0) return true;
  }
  return false;
}

/// True where a test framework may lie: the program itself, a library outside the system's folders, or one that is
/// named after a framework. Searching each library of the system takes long: a large one has 200 MB.
bool may_hold_framework(const char* path) {
  if (*path == '\0') return true;
  for (const char* const word : {"gtest", "gmock", "benchmark", "Catch2", "doctest"}) {
    if (contains(file_name(path), word)) return true;
  }
  return SYSCOST_LIBC(strncmp)(path, "/usr/", 5) != 0 && SYSCOST_LIBC(strncmp)(path, "/lib", 4) != 0;
}

const char* file_of(const Module& module) {
  if (!module.is_program()) return module.path;
  // `ld-linux-x86-64.so.2 ./tests`: the process's file is the loader. It puts the path that it was given into this
  // list.
  char file[256] = {};
  if (SYSCOST_LIBC(readlink)("/proc/self/exe", file, sizeof file - 1) > 0 &&
      SYSCOST_LIBC(strncmp)(file_name(file), "ld-linux", 8) == 0) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the list has numbers
    return reinterpret_cast<const char*>(SYSCOST_LIBC(getauxval)(AT_EXECFN));
  }
  return "/proc/self/exe";
}

/// Where the mapped part of a file ends that can be read: the headers may say more than the file has, and nothing but
/// us reads beyond.
const char* end_in_file(const FileView& file, const ElfW(Phdr) & segment, const char* begin, const char* end) {
  if (file.size() == 0) return end;  // it is gone
  const std::uintptr_t pages = (file.size() + kPageBytes - 1) & ~(kPageBytes - 1);
  const std::uintptr_t readable = pages > segment.p_offset ? pages - segment.p_offset : 0;
  return segment.p_filesz > readable ? begin + readable : end;
}

void read_segments(const dl_phdr_info& info, Module& module) {
  const FileView file(file_of(module));
  module.base = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO) {
      module.relro_begin = begin & ~(kPageBytes - 1);
      module.relro_end = (begin + segment.p_memsz) & ~(kPageBytes - 1);
    }
    if (segment.p_type == PT_GNU_EH_FRAME)
      module.unwind_index = reinterpret_cast<const unsigned char*>(begin);  // NOLINT
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0 || module.span_count == Module::kMostSpans) continue;
    const bool is_writable = (segment.p_flags & PF_W) != 0;
    Span& span = module.spans[module.span_count++];
    span.begin = reinterpret_cast<const char*>(begin);  // NOLINT(performance-no-int-to-ptr): from the ELF headers
    span.end = end_in_file(file, segment, span.begin, span.begin + (is_writable ? segment.p_memsz : segment.p_filesz));
    span.is_code = (segment.p_flags & PF_X) != 0;
    span.is_writable = is_writable;
  }
}

int visit_one(dl_phdr_info* info, std::size_t /*size*/, void* context) {
  const char* const path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (is_of_the_system_or_ours(path) || std::strlen(path) >= sizeof Module::path || !may_hold_framework(path)) return 0;
  static Module module;  // too large for a stack; one thread asks, before main()
  module = Module();
  std::memcpy(module.path, path, std::strlen(path) + 1);
  read_segments(*info, module);
  const auto& visit = *static_cast<const Visit*>(context);
  return visit.visit(module, visit.context) ? 0 : 1;
}

/// The value of `name` in the symbol table `table`; 0 where it has none.
std::uintptr_t value_in(const FileView& file, const ElfW(Shdr) & table, const ElfW(Shdr) & strings, const char* name) {
  const std::size_t count = table.sh_size / sizeof(ElfW(Sym));
  if (table.sh_offset % alignof(ElfW(Sym)) != 0 || !file.has(table.sh_offset, count, sizeof(ElfW(Sym))) ||
      !file.has(strings.sh_offset, strings.sh_size, 1)) {
    return 0;
  }
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(file.bytes() + table.sh_offset);
  const std::size_t length = std::strlen(name) + 1;  // with the NUL
  for (std::size_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = symbols[i];
    if (symbol.st_value == 0 || symbol.st_shndx == SHN_UNDEF) continue;
    if (symbol.st_name > strings.sh_size || strings.sh_size - symbol.st_name < length) continue;
    if (std::memcmp(file.bytes() + strings.sh_offset + symbol.st_name, name, length) == 0) return symbol.st_value;
  }
  return 0;
}

/// An entry of .eh_frame_hdr, which is sorted. Both are offsets from its begin.
struct UnwindEntry {
  std::int32_t function;
  std::int32_t description;
};

/// True where `index`, which lies in `span`, says that a function begins. Linkers write it in one form.
bool begins_function(const Span& span, const unsigned char* index, std::uintptr_t address) {
  constexpr std::size_t kBeforeEntries = 12;
  constexpr unsigned char kVersion = 1;
  constexpr unsigned char kCountIs4Bytes = 0x03;      // DW_EH_PE_udata4
  constexpr unsigned char kEntriesAreOffsets = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4
  constexpr unsigned char kFrameIs4BytesMask = 0x07;  // udata4 or sdata4, from anywhere
  const auto room = static_cast<std::size_t>(reinterpret_cast<const unsigned char*>(span.end) - index);
  if (room < kBeforeEntries || index[0] != kVersion || (index[1] & kFrameIs4BytesMask) != 0x03 ||
      index[2] != kCountIs4Bytes || index[3] != kEntriesAreOffsets) {
    return false;
  }
  std::uint32_t count = 0;
  std::memcpy(&count, index + kBeforeEntries - sizeof count, sizeof count);
  if (count > (room - kBeforeEntries) / sizeof(UnwindEntry)) return false;
  const auto wanted = static_cast<std::int64_t>(address - reinterpret_cast<std::uintptr_t>(index));
  for (std::uint32_t first = 0; first < count;) {
    const std::uint32_t middle = first + (count - first) / 2;
    UnwindEntry entry{};
    std::memcpy(&entry, index + kBeforeEntries + middle * sizeof entry, sizeof entry);
    if (entry.function == wanted) return true;
    if (entry.function < wanted) {
      first = middle + 1;
    } else {
      count = middle;
    }
  }
  return false;
}

}  // namespace

bool Module::has_code(std::uintptr_t address) const {
  for (const Span& span : *this) {
    if (span.is_code && span.holds(address)) return true;
  }
  return false;
}

bool Module::keeps_constants_in_code() const {
  // The index lies among the constants.
  if (unwind_index != nullptr) return has_code(reinterpret_cast<std::uintptr_t>(unwind_index));
  for (const Span& span : *this) {
    if (!span.is_writable && !span.is_code) return false;
  }
  return true;
}

bool Module::has_function(std::uintptr_t address) const {
  if (!has_code(address)) return false;
  if (!keeps_constants_in_code()) return true;
  for (const Span& span : *this) {
    if (span.holds(reinterpret_cast<std::uintptr_t>(unwind_index))) return begins_function(span, unwind_index, address);
  }
  return false;
}

bool Module::has_writable(std::uintptr_t address) const {
  if (address >= relro_begin && address < relro_end) return false;
  for (const Span& span : *this) {
    if (span.is_writable && span.holds(address)) return true;
  }
  return false;
}

void for_each_module(bool (*visit)(const Module& module, void* context), void* context) {
  Visit each{visit, context};
  SYSCOST_LIBC(dl_iterate_phdr)(visit_one, &each);
}

const char* find_bytes(const Module& module, const char* bytes, std::size_t size, const char* from) {
  // Code is searched only where constants lie in it: it is the largest part of most files.
  const bool has_constants_in_code = module.keeps_constants_in_code();
  for (const Span& span : module) {
    if (span.is_writable || (span.is_code && !has_constants_in_code)) continue;
    const char* begin = span.begin;
    if (from != nullptr) {
      if (from >= span.end) continue;
      if (from > begin) begin = from;
    }
    const void* const at = SYSCOST_LIBC(memmem)(begin, static_cast<std::size_t>(span.end - begin), bytes, size);
    if (at != nullptr) return static_cast<const char*>(at);
  }
  return nullptr;
}

std::uintptr_t find_symbol(const Module& module, const char* name) {
  const FileView file(file_of(module));
  if (!file.is_elf() || !file.has(0, 1, sizeof(ElfW(Ehdr)))) return 0;
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(file.bytes());
  if (header.e_shoff == 0 || header.e_shoff % alignof(ElfW(Shdr)) != 0 || header.e_shentsize != sizeof(ElfW(Shdr)) ||
      !file.has(header.e_shoff, header.e_shnum, sizeof(ElfW(Shdr)))) {
    return 0;
  }
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(file.bytes() + header.e_shoff);
  // A file has one table of each kind. One that says more would keep us for long.
  for (const ElfW(Word) kind : {SHT_SYMTAB, SHT_DYNSYM}) {
    const auto* const end = sections + header.e_shnum;
    const auto* const table = std::find_if(sections, end, [&](const ElfW(Shdr) & one) { return one.sh_type == kind; });
    if (table == end || table->sh_link >= header.e_shnum) continue;
    const std::uintptr_t value = value_in(file, *table, sections[table->sh_link], name);
    if (value != 0) return module.base + value;
  }
  return 0;
}

}  // namespace syscost::agent
