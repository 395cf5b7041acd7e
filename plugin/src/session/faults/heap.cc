// SPDX-License-Identifier: MIT
//
// How much memory of the heap the program holds, exactly: a body of for_each_failure that loses 4 bytes is found.
//
// glibc's malloc keeps some freed blocks of each small size for their thread (the tcache), and its figures count them
// as in use. So a block that is lost there, or freed to there, changes no figure. Therefore the caches are filled
// before each look: then they are the same part of each figure.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "os/loaded_function.h"
#include "syscost/adapter.h"
#include "syscost/failures.h"

namespace syscost {
namespace {

/// Not the compiler's to leave out.
void* take(std::size_t bytes) {
  void* taken = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc): the program's allocator
  __asm__ volatile("" : "+r"(taken) : : "memory");
  return taken;
}

void give_back(void* taken) {
  std::free(taken);  // NOLINT(cppcoreguidelines-no-malloc): see above
}

/// What glibc's malloc says is in use; empty if it does not say.
std::optional<std::uint64_t> bytes_in_use() {
  // As <malloc.h> has it from glibc 2.33 on.
  struct HeapInfo {
    std::size_t arena, free_chunks, small_chunks, mappings, mapped, unused, small_free, in_use, free, top;
  };
  static auto* const ask = reinterpret_cast<HeapInfo (*)()>(loaded_function("mallinfo2"));
  if (ask == nullptr) return std::nullopt;
  const HeapInfo now = ask();
  return now.in_use + now.mapped;
}

/// False with another allocator, such as a sanitizer's: glibc's figure does not change then.
bool is_heap_of_glibc() {
  constexpr std::size_t kInNoCache = 100'000;  // and below what glibc maps for itself
  const std::optional<std::uint64_t> before = bytes_in_use();
  if (!before.has_value()) return false;
  void* const taken = take(kInNoCache);
  const bool has_grown = bytes_in_use() >= *before + kInNoCache;
  give_back(taken);
  return has_grown;
}

/// The calling thread's cache has as many blocks of each size as it takes.
void fill_caches() {
  constexpr std::size_t kSmallest = 24;
  constexpr std::size_t kLargest = 1032;
  constexpr std::size_t kStep = 16;
  constexpr std::size_t kOfEachSize = 32;  // glibc 2.42 keeps 16, older ones 7
  std::array<void*, kOfEachSize> taken{};
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes += kStep) {
    for (void*& one : taken) one = take(bytes);
    for (void* const one : taken) give_back(one);
  }
}

}  // namespace

std::uint64_t failure_detail::heap_bytes() {
  // The framework keeps what it knows of an assertion that failed: that is no leak of the body.
  if (adapter::test_has_failed().value_or(false) || !is_heap_of_glibc()) return 0;
  fill_caches();
  return bytes_in_use().value_or(0);
}

}  // namespace syscost
