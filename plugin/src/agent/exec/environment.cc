// SPDX-License-Identifier: MIT
#include "agent/exec/environment.h"

#include <alloca.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "agent/common/clean_variable.h"
#include "agent/common/variables.h"

namespace syscost::agent {
namespace {

constexpr char kLdPreload[] = "LD_PRELOAD=";
constexpr std::size_t kLdPreloadSize = sizeof kLdPreload - 1;
constexpr char kAsan[] = "ASAN_OPTIONS=";
constexpr std::size_t kAsanSize = sizeof kAsan - 1;

/// The variable that begins with the `size` bytes of `name`, '=' included. The first of several, as getenv() has it.
const char* find(char* const* environment, const char* name, std::size_t size) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, name, size) == 0) return *environment;
  }
  return nullptr;
}

/// The value of LD_PRELOAD that the loader will use: that of the last one. Null if there is none.
const char* preload_in(char* const* environment) {
  const char* value = nullptr;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (starts_with(*environment, kLdPreload)) value = *environment + kLdPreloadSize;
  }
  return value;
}

/// True where the list `value` of LD_PRELOAD has our library.
bool has_ours(const char* value) {
  const std::size_t size = std::strlen(g_kept.preload);
  for (const char* at = std::strstr(value, g_kept.preload); at != nullptr; at = std::strstr(at + 1, g_kept.preload)) {
    const bool begins = at == value || at[-1] == ':' || at[-1] == ' ';
    if (begins && (at[size] == '\0' || at[size] == ':' || at[size] == ' ')) return true;
  }
  return false;
}

}  // namespace

Environment::Environment(char* const* theirs) : theirs_(theirs) {
  const char* const preload = preload_in(theirs);
  const char* const asan = find(theirs, kAsan, kAsanSize);
  lacks_preload_ = preload == nullptr || !has_ours(preload);
  lacks_mark_ = find(theirs, kPreloadVariable, std::strlen(kPreloadVariable)) == nullptr;
  lacks_order_ = asan == nullptr || std::strstr(asan, kAsanOrder) == nullptr;
  for (char* const* one = theirs; one != nullptr && *one != nullptr; ++one) ++pointers_;
  pointers_ += g_kept.count + 4;  // kFilteredVariable, LD_PRELOAD, ASAN_OPTIONS, null
  lacks_filtered_ = g_kept.is_filtered && find(theirs, kFilteredVariable, std::strlen(kFilteredVariable)) == nullptr;
  bytes_ += g_kept.is_filtered ? std::strlen(kFilteredVariable) + 3 : 0;
  bytes_ += kLdPreloadSize + std::strlen(g_kept.preload) + 2 + (preload != nullptr ? std::strlen(preload) : 0);
  bytes_ += kAsanSize + std::strlen(kAsanOrder) + 2 + (asan != nullptr ? std::strlen(asan) : 0);
}

char* const* Environment::build(char** room, char* text) const {
  if (!lacks_preload_ && !lacks_mark_ && !lacks_order_ && !lacks_filtered_) return theirs_;
  std::size_t count = 0;
  const char* preload = preload_in(theirs_);
  const char* asan = find(theirs_, kAsan, kAsanSize);
  preload = preload != nullptr ? preload : "";
  asan = asan != nullptr ? asan + kAsanSize : "";
  for (char* const* one = theirs_; one != nullptr && *one != nullptr; ++one) {
    const bool is_replaced =
        (lacks_preload_ && starts_with(*one, kLdPreload)) || (lacks_order_ && starts_with(*one, kAsan));
    if (!is_replaced) room[count++] = *one;
  }
  for (std::size_t i = 0; lacks_mark_ && i < g_kept.count; ++i) {
    const char* const variable = g_kept.variables[i];
    const std::size_t name_size = std::strcspn(variable, "=") + 1;
    if (find(theirs_, variable, name_size) == nullptr) room[count++] = const_cast<char*>(variable);
  }
  // "NAME=first" or "NAME=first:second".
  const auto add = [&](const char* name, const char* first, const char* second) {
    room[count++] = text;
    text = stpcpy(stpcpy(text, name), first);
    if (*first != '\0' && *second != '\0') text = stpcpy(text, ":");
    text = stpcpy(text, second) + 1;
  };
  if (lacks_filtered_) add(kFilteredVariable, "=1", "");
  if (lacks_preload_) add(kLdPreload, g_kept.preload, preload);
  if (lacks_order_) add(kAsan, asan, kAsanOrder);
  room[count] = nullptr;
  return room;
}

namespace {

/// Returns when no thread is inside a setenv() that began before: unsetenv() waits for the lock that both take. The
/// variable does not exist.
void wait_for_setters() {
  unsetenv("_SYSCOST_NONE");
}

/// Puts what another thread has set in `theirs` since it was copied into `made`.
void take_over_changes(char* const* theirs, char* const* copy, char** made) {
  for (; *copy != nullptr && *theirs != nullptr; ++copy, ++theirs) {
    if (*theirs == *copy) continue;
    for (char** one = made; *one != nullptr; ++one) {
      char* expected = *copy;
      if (std::atomic_ref(*one).compare_exchange_strong(expected, *theirs)) break;
    }
  }
}

/// Gives the program a new environment: `fill` makes it of a copy of the old one's pointers, and returns false if the
/// old one will do. Not by setenv() and unsetenv(), which free and move what another thread may be reading: old arrays
/// stay. If another thread sets variables meanwhile, it is made again.
template <class Fill>
void replace_environment(Fill fill) {
  constexpr int kMostTries = 16;  // not for ever: a thread may do nothing but set variables
  for (int tries = 0; tries < kMostTries; ++tries) {
    char** const theirs = std::atomic_ref(__environ).load();
    if (theirs == nullptr) return;  // clearenv()
    std::size_t count = 1;
    while (theirs[count - 1] != nullptr) ++count;
    auto** const copy = static_cast<char**>(alloca(count * sizeof(char*)));
    std::memcpy(copy, theirs, count * sizeof(char*));
    wait_for_setters();
    const auto is_as_before = [&] {
      return std::atomic_ref(__environ).load() == theirs && std::memcmp(copy, theirs, count * sizeof(char*)) == 0;
    };
    if (!is_as_before()) continue;
    std::size_t bytes = Environment(copy).bytes();
    for (char* const* one = copy; *one != nullptr; ++one) {
      if (starts_with(*one, kLdPreload) || starts_with(*one, kAsan)) bytes += std::strlen(*one) + 1;
    }
    const std::size_t pointers = count + Environment(copy).pointers();
    const std::size_t size = pointers * sizeof(char*) + bytes;
    void* const room = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return;  // exec functions pass on all the same
    auto** const made = static_cast<char**>(room);
    const bool is_new = fill(copy, made, reinterpret_cast<char*>(made + pointers));
    char** expected = theirs;
    if (is_new && is_as_before() && std::atomic_ref(__environ).compare_exchange_strong(expected, made)) {
      wait_for_setters();
      return take_over_changes(theirs, copy, made);
    }
    munmap(room, size);
    if (!is_new) return;
  }
}

}  // namespace

void take_ours_out() {
  // The program may have cleared it.
  if (preload_in(__environ) == nullptr || getenv(kPreloadVariable) == nullptr) return;
  replace_environment([](char* const* theirs, char** made, char* text) {
    for (; *theirs != nullptr; ++theirs) {
      const char* const clean = clean_variable(*theirs, g_kept.preload, text);
      if (clean == nullptr) continue;
      *made++ = const_cast<char*>(clean);
      if (clean == text) text += std::strlen(text) + 1;
    }
    *made = nullptr;
    return true;
  });
  g_kept.is_environment_clean = true;
}

void put_ours_back() {
  if (!std::exchange(g_kept.is_environment_clean, false)) return;
  replace_environment(
      [](char* const* theirs, char** made, char* text) { return Environment(theirs).build(made, text) == made; });
}

}  // namespace syscost::agent
