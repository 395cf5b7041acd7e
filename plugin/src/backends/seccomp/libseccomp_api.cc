// SPDX-License-Identifier: MIT
#include "backends/seccomp/libseccomp_api.h"

#include <dlfcn.h>

#include <string>

#include "libc/symbols.h"

namespace syscost::seccomp {
namespace {

LibseccompApi g_api;

Result<const LibseccompApi*> find_functions() {
  // Its calls go to libc, also where the program defines functions of libc's names. Sanitizers refuse that.
  const int deep = libc::has_sanitizer() ? 0 : RTLD_DEEPBIND;
  void* library = dlopen("libseccomp.so.2", RTLD_NOW | RTLD_LOCAL | deep);
  if (library == nullptr) {
    return Failure{std::string("libseccomp.so.2 cannot be loaded: ") + dlerror(),
                   "install libseccomp 2.5 or newer (Debian, Ubuntu: apt-get install libseccomp2; Fedora: dnf install "
                   "libseccomp)"};
  }
#define SYSCOST_LIBSECCOMP_FIND(name)                                                            \
  g_api.name = reinterpret_cast<decltype(g_api.name)>(dlsym(library, #name));                    \
  if (g_api.name == nullptr) {                                                                   \
    return Failure{"libseccomp.so.2 has no function " #name, "install libseccomp 2.5 or newer"}; \
  }
  SYSCOST_LIBSECCOMP_FUNCTIONS(SYSCOST_LIBSECCOMP_FIND)
#undef SYSCOST_LIBSECCOMP_FIND
  return &g_api;
}

}  // namespace

Result<const LibseccompApi*> open_libseccomp() {
  static const Result<const LibseccompApi*> opened = find_functions();
  return opened;
}

}  // namespace syscost::seccomp
