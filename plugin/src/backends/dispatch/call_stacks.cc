// SPDX-License-Identifier: MIT
#include "backends/dispatch/call_stacks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>

#include "backends/dispatch/stub/call_stacks.h"
#include "backends/dispatch/stub/modules.h"
#include "backends/dispatch/stub/unwind.h"
#include "backends/dispatch/stub/where.h"

namespace syscost::dispatch {
namespace {

using signal_safe::KnownModule;
using signal_safe::KnownStack;
using signal_safe::WhereState;

// Address space: pages are taken when they are touched.
constexpr std::size_t kStackArenaBytes = std::size_t{256} << 20;
constexpr std::size_t kSmallStackArenaBytes = std::size_t{8} << 20;  // under RLIMIT_AS

/// The vector registers that a function may use, in what the stub has room for.
std::uint64_t vector_mask() {
  constexpr std::uint64_t kX87AndSse = 3;
  std::uint64_t mask = 0;
  for (const unsigned part : {2U, 5U, 6U, 7U}) {  // AVX and the three of AVX-512
    const signal_safe::VectorPart& place = syscost_state.vector_parts[part];
    if (place.bytes != 0 && place.offset + place.bytes <= signal_safe::kVectorBytes) mask |= 1ULL << part;
  }
  return mask == 0 ? 0 : mask | kX87AndSse;
}

Result<void> reserve_memory_of_stacks() {
  WhereState& where = syscost_where_state;
  if (where.arena != nullptr) return {};
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  std::size_t bytes = kStackArenaBytes;
  void* arena = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (arena == MAP_FAILED) arena = mmap(nullptr, bytes = kSmallStackArenaBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (arena == MAP_FAILED) return errno_failure("reserve", "memory for call stacks", errno);
  where.vector_mask = vector_mask();
  where.arena_bytes = bytes;
  where.arena = static_cast<char*>(arena);
  const auto take = [](auto*& table, std::size_t count) {
    using Item = std::remove_reference_t<decltype(*table)>;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the items of one table are pointers
    table = static_cast<Item*>(signal_safe::take_where_memory(count * sizeof(Item)));
  };
  take(where.stacks, signal_safe::kStackPlaces);
  take(where.rules, signal_safe::kRules);
  take(where.modules, signal_safe::kModules);
  return {};
}

/// Where the calling thread's stack begins; 0 = unknown.
std::uint64_t own_stack_top() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* start = nullptr;
  std::size_t bytes = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &start, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return is_known ? reinterpret_cast<std::uint64_t>(start) + bytes : 0;
}

const KnownStack& known_stack(std::uint32_t stack) {
  return *std::atomic_ref(syscost_where_state.stacks[stack - 1]).load(std::memory_order_acquire);
}

std::string program_path() {
  std::string path(PATH_MAX, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return path;
}

/// The file that is mapped at `address` now; empty if that is none.
std::string path_mapped_at(std::uint64_t address) {
  std::FILE* file = std::fopen("/proc/self/maps", "re");
  if (file == nullptr) return {};
  std::string path;
  char line[PATH_MAX + 128];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    int name_at = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &begin, &end, &name_at) < 2) continue;
    if (address < begin || address >= end || name_at == 0) continue;
    path = line + name_at;
    while (!path.empty() && path.back() == '\n') path.pop_back();
    break;
  }
  std::fclose(file);
  return path;
}

/// The loader's name of a module is empty for the program, and may be relative to what was the working directory.
std::string path_of(const KnownModule& module) {
  const std::string_view name = module.name;
  if (name.empty()) return program_path();
  if (name.starts_with("linux-vdso.so")) return "[vdso]";
  if (name.front() == '/' || std::atomic_ref(const_cast<std::uint32_t&>(module.is_retired)).load() != 0)
    return std::string(name);
  const std::string mapped = path_mapped_at(module.begin);
  return mapped.empty() || mapped.front() != '/' ? std::string(name) : mapped;
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 0xf];
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<CallStacks>> CallStacks::start(signal_safe::Thread& opener) {
  WhereState& where = syscost_where_state;
  where.find_object = reinterpret_cast<signal_safe::FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  if (where.find_object == nullptr) {
    return Failure{
        "this C library has no _dl_find_object, by which call stacks (--syscost_where) are found; glibc has it from "
        "2.35 on",
        "leave --syscost_where out, or run where glibc is 2.35 or newer"};
  }
  if (Result<void> memory = reserve_memory_of_stacks(); !memory.ok()) return memory.failure();
  opener.stack_top = own_stack_top();
  check_modules();
  std::unique_ptr<CallStacks> stacks(new CallStacks());
  std::atomic_ref(syscost_where).store(1);
  return stacks;
}

CallStacks::~CallStacks() {
  std::atomic_ref(syscost_where).store(0);
}

std::span<const StackFrame> CallStacks::frames(std::uint32_t stack) const {
  const std::lock_guard guard(mutex_);
  auto [at, is_new] = frames_.try_emplace(stack);
  if (is_new) {
    const KnownStack& known = known_stack(stack);
    for (std::uint32_t i = 0; i < known.frames; ++i) {
      const std::uint64_t packed = known.frame[i];
      const auto index = static_cast<std::uint32_t>(packed >> signal_safe::kOffsetBits);
      const std::uint64_t offset = packed & ((1ULL << signal_safe::kOffsetBits) - 1);
      at->second.push_back({index < signal_safe::kModules ? index : kNoModule, offset});
    }
  }
  return at->second;
}

StackEnd CallStacks::end(std::uint32_t stack) const {
  switch (known_stack(stack).end) {
    case signal_safe::WalkEnd::complete:
      return StackEnd::complete;
    case signal_safe::WalkEnd::too_deep:
      return StackEnd::too_deep;
    default:
      return StackEnd::no_unwind_information;
  }
}

const Module& CallStacks::module(std::uint32_t index) const {
  const std::lock_guard guard(mutex_);
  auto [at, is_new] = modules_.try_emplace(index);
  if (is_new) {
    const KnownModule& known = syscost_where_state.modules[index];
    at->second = {path_of(known), hexadecimal(known.build_id, known.build_id_bytes)};
  }
  return at->second;
}

std::uint64_t CallStacks::calls_beyond_limits() const {
  return std::atomic_ref(syscost_where_state.beyond_limits).load();
}

void CallStacks::check_modules() {
  WhereState& where = syscost_where_state;
  if (where.modules == nullptr) return;
  for (std::uint32_t i = 0; i < std::min(where.modules_used, signal_safe::kModules); ++i) {
    KnownModule& module = where.modules[i];
    if (module.is_retired != 0) continue;
    signal_safe::FoundObject found{};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what it takes
    const bool is_there = where.find_object(reinterpret_cast<void*>(module.begin), &found) == 0 &&
                          found.begin == module.begin && found.end == module.end &&
                          reinterpret_cast<std::uint64_t>(found.link_map) == module.link_map;
    if (!is_there) signal_safe::forget_code(module.begin, module.end - module.begin);
  }
  std::atomic_ref(where.memory_epoch).fetch_add(1);
}

}  // namespace syscost::dispatch
