// SPDX-License-Identifier: MIT
#include "agent/find/imports.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace syscost::agent {
namespace {

/// What the dynamic section says of relocations.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * relocations[2] = {nullptr, nullptr};  // of data and of calls
  std::size_t bytes[2] = {0, 0};
};

Dynamic read_dynamic(const dl_phdr_info& object) {
  Dynamic its;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): from the ELF headers
    entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  }
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // glibc has added where the object lies already, except where the section cannot be written.
    std::uintptr_t address = entry->d_un.d_ptr;
    if (address < object.dlpi_addr) address += object.dlpi_addr;
    // NOLINTBEGIN(performance-no-int-to-ptr): from the dynamic section
    if (entry->d_tag == DT_SYMTAB) its.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) its.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_RELA) its.relocations[0] = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_JMPREL) its.relocations[1] = reinterpret_cast<const ElfW(Rela)*>(address);
    // NOLINTEND(performance-no-int-to-ptr)
    if (entry->d_tag == DT_RELASZ) its.bytes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTRELSZ) its.bytes[1] = entry->d_un.d_val;
  }
  return its;
}

struct Search {
  const Module* module;
  const char* name;
  std::vector<std::uintptr_t*> found;
};

int visit(dl_phdr_info* object, std::size_t /*size*/, void* context) {
  auto& search = *static_cast<Search*>(context);
  if (object->dlpi_addr != search.module->base ||
      std::strcmp(object->dlpi_name != nullptr ? object->dlpi_name : "", search.module->path) != 0) {
    return 0;
  }
  const Dynamic its = read_dynamic(*object);
  if (its.symbols == nullptr || its.names == nullptr) return 1;
  for (int table = 0; table < 2; ++table) {
    const std::size_t count = its.relocations[table] != nullptr ? its.bytes[table] / sizeof(ElfW(Rela)) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Rela)& one = its.relocations[table][i];
      const auto symbol = ELF64_R_SYM(one.r_info);
      if (symbol == 0 || one.r_addend != 0 || std::strcmp(its.names + its.symbols[symbol].st_name, search.name) != 0)
        continue;
      // NOLINTNEXTLINE(performance-no-int-to-ptr): from the relocation
      search.found.push_back(reinterpret_cast<std::uintptr_t*>(object->dlpi_addr + one.r_offset));
    }
  }
  return 1;
}

}  // namespace

std::vector<std::uintptr_t*> import_slots(const Module& module, const char* name) {
  Search search{&module, name, {}};
  dl_iterate_phdr(visit, &search);
  return search.found;
}

}  // namespace syscost::agent
