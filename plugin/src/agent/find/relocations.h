// SPDX-License-Identifier: MIT
//
// Reads the relocations of a loaded object from its dynamic section. They name the symbols that the object looks up.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace syscost::agent {

/// The tables of one object, in memory. Their number of symbols is not known, and the loader does not read all of them:
/// what it has not needed yet may lead anywhere.
struct Relocations {
  const dl_phdr_info* object = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * tables[2] = {nullptr, nullptr};  ///< For data and for calls.
  std::size_t bytes[2] = {0, 0};                      ///< The size of each table.

  /// Calls `body(relocation, index of its symbol, name of its symbol)` for each one, until it returns true. Returns
  /// true if one call did.
  template <class Body>
  bool any_of(Body body) const {
    if (symbols == nullptr || names == nullptr) return false;
    for (int table = 0; table < 2; ++table) {
      if (tables[table] == nullptr || bytes[table] > readable(tables[table])) continue;
      for (std::size_t i = 0; i < bytes[table] / sizeof(ElfW(Rela)); ++i) {
        const ElfW(Rela)& one = tables[table][i];
        const std::size_t symbol = ELF64_R_SYM(one.r_info);
        if (readable(symbols + symbol) < sizeof *symbols) continue;
        const char* const name = names + symbols[symbol].st_name;
        const std::size_t most = readable(name);
        if (most == 0 || std::memchr(name, '\0', most) == nullptr) continue;
        if (body(one, symbol, name)) return true;
      }
    }
    return false;
  }

  /// How many bytes of the object follow from `at` on; 0 if it is outside of the object.
  std::size_t readable(const void* at) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = object->dlpi_phdr[i];
      const std::uintptr_t offset = address - (object->dlpi_addr + segment.p_vaddr);
      const bool is_readable = segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0;
      if (is_readable && offset < segment.p_filesz) return segment.p_filesz - offset;
    }
    return 0;
  }
};

/// Reads `object`, which must be loaded and of 64 bits. An object without a table has a null pointer for it.
inline Relocations read_relocations(const dl_phdr_info& object) {
  Relocations its;
  its.object = &object;
  const ElfW(Dyn)* entry = nullptr;
  // NOLINTBEGIN(performance-no-int-to-ptr): from the ELF headers and the dynamic section
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  }
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // glibc has added the load address already, except if the section is read-only.
    std::uintptr_t address = entry->d_un.d_ptr;
    if (address < object.dlpi_addr) address += object.dlpi_addr;
    if (entry->d_tag == DT_SYMTAB) its.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) its.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_RELA) its.tables[0] = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_JMPREL) its.tables[1] = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_RELASZ) its.bytes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTRELSZ) its.bytes[1] = entry->d_un.d_val;
  }
  // NOLINTEND(performance-no-int-to-ptr)
  return its;
}

}  // namespace syscost::agent
