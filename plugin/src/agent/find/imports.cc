// SPDX-License-Identifier: MIT
#include "agent/find/imports.h"

#include <link.h>

#include <cstring>

#include "agent/find/relocations.h"
#include "libc/symbols.h"

namespace syscost::agent {
namespace {

struct Search {
  const Module* module;
  const char* name;
  std::vector<std::uintptr_t*> found;
};

int visit(dl_phdr_info* object, std::size_t /*size*/, void* context) {
  auto& search = *static_cast<Search*>(context);
  if (object->dlpi_addr != search.module->base ||
      SYSCOST_LIBC(strcmp)(object->dlpi_name != nullptr ? object->dlpi_name : "", search.module->path) != 0) {
    return 0;
  }
  read_relocations(*object).any_of([&](const ElfW(Rela) & one, std::size_t symbol, const char* name) {
    if (symbol != 0 && one.r_addend == 0 && SYSCOST_LIBC(strcmp)(name, search.name) == 0) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): from the relocation
      search.found.push_back(reinterpret_cast<std::uintptr_t*>(object->dlpi_addr + one.r_offset));
    }
    return false;
  });
  return 1;
}

}  // namespace

std::vector<std::uintptr_t*> import_slots(const Module& module, const char* name) {
  Search search{&module, name, {}};
  SYSCOST_LIBC(dl_iterate_phdr)(visit, &search);
  return search.found;
}

}  // namespace syscost::agent
