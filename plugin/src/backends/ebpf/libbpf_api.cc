// SPDX-License-Identifier: MIT
#include "backends/ebpf/libbpf_api.h"

#include <dlfcn.h>

#include <string>

namespace syscost::ebpf {
namespace {

LibbpfApi g_api;

Result<const LibbpfApi*> find_functions() {
  void* library = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Failure{std::string("libbpf.so.1 cannot be loaded: ") + dlerror(),
                   "install libbpf 1.x (Debian, Ubuntu: apt-get install libbpf1; Fedora: dnf install libbpf)"};
  }
#define SYSCOST_LIBBPF_FIND(name)                                                        \
  g_api.name = reinterpret_cast<decltype(g_api.name)>(dlsym(library, #name));            \
  if (g_api.name == nullptr) {                                                           \
    return Failure{"libbpf.so.1 has no function " #name, "install libbpf 1.0 or newer"}; \
  }
  SYSCOST_LIBBPF_FUNCTIONS(SYSCOST_LIBBPF_FIND)
#undef SYSCOST_LIBBPF_FIND
  return &g_api;
}

}  // namespace

Result<const LibbpfApi*> open_libbpf() {
  static const Result<const LibbpfApi*> opened = find_functions();
  return opened;
}

const LibbpfApi& libbpf() {
  return g_api;
}

}  // namespace syscost::ebpf
