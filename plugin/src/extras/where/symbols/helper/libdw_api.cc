// SPDX-License-Identifier: MIT
#include "extras/where/symbols/helper/libdw_api.h"

#include <dlfcn.h>

#include <string>

namespace syscost::symbols {
namespace {

LibdwApi g_libdw;

Result<const LibdwApi*> find_libdw() {
  void* library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Failure{std::string("libdw.so.1 cannot be loaded: ") + dlerror(),
                   "install it (Debian, Ubuntu: apt-get install libdw1; Fedora: dnf install elfutils-libs)"};
  }
#define SYSCOST_LIBDW_FIND(name)                                                            \
  g_libdw.name = reinterpret_cast<decltype(g_libdw.name)>(dlsym(library, #name));           \
  if (g_libdw.name == nullptr) {                                                            \
    return Failure{"libdw.so.1 has no function " #name, "install elfutils 0.171 or newer"}; \
  }
  SYSCOST_LIBDW_FUNCTIONS(SYSCOST_LIBDW_FIND)
#undef SYSCOST_LIBDW_FIND
  return &g_libdw;
}

}  // namespace

Result<const LibdwApi*> open_libdw() {
  static const Result<const LibdwApi*> opened = find_libdw();
  return opened;
}

const LibdwApi& libdw() {
  return g_libdw;
}

}  // namespace syscost::symbols
