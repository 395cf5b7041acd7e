// SPDX-License-Identifier: MIT
#include "fuzz_tables.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "backends/dispatch/stub/user_memory.h"
#include "extras/where/dispatch/call_stacks.h"
#include "extras/where/stub/unwind.h"
#include "require.h"

namespace syscost::dispatch::fuzz {
namespace {

using syscost::fuzz::require;

using signal_safe::Walk;
using signal_safe::WalkEnd;
using signal_safe::Walker;
using signal_safe::WalkStart;

struct Unwinding {
  signal_safe::Thread thread{};
  Walker* walker = nullptr;  ///< Null: stacks cannot be unwound here.
};

Unwinding& unwinding() {
  static Unwinding* const made = [] {
    auto* fresh = new Unwinding;
    if (!CallStacks::start(fresh->thread, StacksOf::each_call).ok()) return fresh;
    fresh->walker = static_cast<Walker*>(signal_safe::take_where_memory(sizeof(Walker)));
    return fresh;
  }();
  return *made;
}

/// Unwinds the stack of its caller. `ip`: where it is instead; 0 = where it is.
__attribute__((noinline)) void unwind_from(std::uint64_t ip) {
  WalkStart start{};
  asm volatile("leaq 0f(%%rip), %0\n0:\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
               : "=r"(start.ip), "=r"(start.sp), "=r"(start.rbp));
  if (ip != 0) start.ip = ip;
  const signal_safe::Guard guard = signal_safe::EntryPoint::enter();
  // No rule holds any more.
  std::atomic_ref(syscost_where_state.code_epoch).fetch_add(1);
  signal_safe::unwind(guard, unwinding().thread, *unwinding().walker, start);
}

void unwind_here() {
  unwind_from(0);
}

using CallFromBelow = void (*)(void (*)());

struct Library {
  CallFromBelow call = nullptr;
  std::span<std::uint8_t> tables;
};

/// The table of tables, and all that follows in its segment.
int find_tables(dl_phdr_info* info, std::size_t /*size*/, void* argument) {
  auto& library = *static_cast<Library*>(argument);
  const auto address = [&](const ElfW(Phdr) & part) { return info->dlpi_addr + part.p_vaddr; };
  const auto function = reinterpret_cast<std::uint64_t>(library.call);
  const std::span parts(info->dlpi_phdr, info->dlpi_phnum);
  const auto holds = [&](std::uint64_t place) {
    return
        [&, place](const ElfW(Phdr) & part) { return part.p_type == PT_LOAD && place - address(part) < part.p_memsz; };
  };
  if (std::none_of(parts.begin(), parts.end(), holds(function))) return 0;
  for (const ElfW(Phdr) & header : parts) {
    if (header.p_type != PT_GNU_EH_FRAME) continue;
    const auto segment = std::find_if(parts.begin(), parts.end(), holds(address(header)));
    if (segment == parts.end()) return 1;
    auto* begin = reinterpret_cast<std::uint8_t*>(address(header));  // NOLINT(performance-no-int-to-ptr)
    library.tables = {begin, static_cast<std::size_t>(address(*segment) + segment->p_memsz - address(header))};
  }
  return 1;
}

bool make_writable(std::span<std::uint8_t> memory) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(memory.data() + memory.size());
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) == 0;
}

Library& library() {
  static Library* const made = [] {
    auto* fresh = new Library;
    void* const handle = dlopen(SYSCOST_UNWOUND_LIBRARY, RTLD_NOW);
    if (handle == nullptr) return fresh;
    fresh->call = reinterpret_cast<CallFromBelow>(dlsym(handle, "call_from_below"));
    dl_iterate_phdr(find_tables, fresh);
    if (!make_writable(fresh->tables)) fresh->call = nullptr;
    return fresh;
  }();
  return *made;
}

}  // namespace

bool can_unwind_library() {
  return unwinding().walker != nullptr && library().call != nullptr;
}

std::size_t bytes_of_tables() {
  return library().tables.size();
}

void unwind_by_any_table(const std::uint8_t* data, std::size_t size) {
  const std::span<std::uint8_t> tables = library().tables;
  const std::vector<std::uint8_t> before(tables.begin(), tables.end());
  constexpr std::size_t kBytesOfAChange = 3;
  for (; size >= kBytesOfAChange; data += kBytesOfAChange, size -= kBytesOfAChange) {
    tables[(data[0] + std::size_t{256} * data[1]) % tables.size()] = data[2];
  }
  const bool is_changed = !std::equal(before.begin(), before.end(), tables.begin());
  library().call(unwind_here);
  std::copy(before.begin(), before.end(), tables.begin());
  const Walk& walk = unwinding().walker->walk;
  require(walk.frames >= 1 && walk.frames <= signal_safe::kMaxFrames, "there is room for the frames");
  require(walk.words <= signal_safe::kMaxWords, "there is room for the words");
  require(is_changed || walk.end == WalkEnd::complete, "an unchanged stack has all of its frames");
}

bool unwind_in_library(const char* path) {
  void* const handle = dlopen(path, RTLD_NOW);
  if (handle == nullptr) return false;
  const auto call = reinterpret_cast<CallFromBelow>(dlsym(handle, "call_from_below"));
  if (call != nullptr) call(unwind_here);
  dlclose(handle);
  return call != nullptr;
}

void unwind_as_if_called_at(std::uint64_t address) {
  unwind_from(address);
}

void copy_tables_by_kernel(bool by_kernel) {
  signal_safe::may_copy_by_kernel(by_kernel);
}

}  // namespace syscost::dispatch::fuzz
