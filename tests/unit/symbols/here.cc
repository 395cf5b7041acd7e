// The function that subject.cc calls. A file of its own, so that it is never inlined.
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdio>

int here();

__attribute__((noinline)) int here() {
  const void* const address = __builtin_return_address(0);
  Dl_info info{};
  link_map* map = nullptr;
  dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  std::printf("%lx\n", static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(address) - map->l_addr));
  // If the optimiser knew the result, calls at the end of a function could become jumps.
  static volatile int nothing = 0;
  return nothing;
}
