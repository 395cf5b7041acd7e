// SPDX-License-Identifier: MIT
#include "session/process/first_uses.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <malloc.h>
#include <sched.h>
#include <sys/sysinfo.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "os/environment.h"

namespace syscost::session {
namespace {

/// glibc before 2.37 reads the memory of the machine (sysinfo) once, when it first sorts an array of 1 KiB or more.
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

/// Sets malloc's number of arenas to the number that malloc would compute itself.
void limit_arenas() {
  static_assert(sizeof(long) == 8, "most_arenas() is that of 64 bits");
  if (is_told_about_arenas()) return;
  const int online = get_nprocs();
  cpu_set_t allowed;
  const bool is_either_way = sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == online;
  if (is_either_way || arenas_follow_get_nprocs(gnu_get_libc_version())) mallopt(M_ARENA_MAX, most_arenas(online));
}
#else
void limit_arenas() {}
#endif

}  // namespace

bool arenas_follow_get_nprocs(std::string_view version) {
  constexpr std::string_view kMajor = "2.";
  if (!version.starts_with(kMajor)) return false;
  version.remove_prefix(kMajor.size());
  int minor = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), minor);
  return error == std::errc() && (minor < 34 || minor > 38);
}

void do_first_uses() {
  sort_an_array();
  limit_arenas();
}

}  // namespace syscost::session
