// SPDX-License-Identifier: MIT
#include "os/loaded_function.h"

#include <link.h>

#include <span>

#include "libc/symbols.h"

namespace syscost {
namespace {

struct Search {
  const char* name;
  void* found;
};

int look_in(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  Search& search = *static_cast<Search*>(data);
  link_map module{};
  module.l_addr = info->dlpi_addr;
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type == PT_DYNAMIC) {
      module.l_ld =
          reinterpret_cast<ElfW(Dyn)*>(info->dlpi_addr + segment.p_vaddr);  // NOLINT(performance-no-int-to-ptr)
    }
  }
  search.found = libc::Module(&module).find("", search.name);
  return search.found != nullptr ? 1 : 0;
}

}  // namespace

void* loaded_function(const char* name) {
  Search search{name, nullptr};
  dl_iterate_phdr(look_in, &search);
  return search.found;
}

}  // namespace syscost
