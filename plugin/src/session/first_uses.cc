// SPDX-License-Identifier: MIT
#include "session/first_uses.h"

#include <malloc.h>
#include <sched.h>
#include <sys/sysinfo.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "core/environment.h"

namespace syscost::session {
namespace {

/// glibc before 2.37 asks for the memory of the machine (sysinfo) when an array of 1 KiB or more is sorted, once.
void sort_an_array() {
  std::array<int, 512> numbers{};
  std::qsort(numbers.data(), numbers.size(), sizeof(int),
             [](const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); });
}

#ifdef M_ARENA_MAX
bool is_told_about_arenas() {
  for (const char* name : {"MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST"}) {
    if (variable(name) != nullptr) return true;
  }
  const char* const tunables = variable("GLIBC_TUNABLES");
  return tunables != nullptr && std::string_view(tunables).find("malloc.arena_") != std::string_view::npos;
}

/// Tells malloc what it would find out: how many arenas it may make.
void limit_arenas() {
  static_assert(sizeof(long) == 8, "most_arenas() is that of 64 bits");
  if (is_told_about_arenas()) return;
  const int online = get_nprocs();
  cpu_set_t allowed;
  // Some versions of glibc take the processors that are there, others those that this process may use.
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != online) return;
  mallopt(M_ARENA_MAX, most_arenas(online));
}
#else
void limit_arenas() {}
#endif

}  // namespace

void do_first_uses() {
  sort_an_array();
  limit_arenas();
}

}  // namespace syscost::session
