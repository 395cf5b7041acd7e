// SPDX-License-Identifier: MIT
#include "os/mapped_memory.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "os/quiet_memory.h"

namespace syscost {
namespace {

constexpr std::size_t kLeastMapped = std::size_t{64} << 10;
constexpr std::size_t kPage = 4096;
/// A large block that could not be mapped begins so far after a multiple of kSpare: never at a page's begin.
constexpr std::size_t kSpare = 32;
constexpr std::size_t kAfterSpare = 16;
static_assert(kAfterSpare % alignof(std::max_align_t) == 0);

class MappedMemory final : public std::pmr::memory_resource {
 private:
  static bool is_large(std::size_t bytes, std::size_t alignment) {
    return bytes >= kLeastMapped && alignment <= kAfterSpare;
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (!is_large(bytes, alignment)) return quiet_memory().allocate(bytes, alignment);
    void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start != MAP_FAILED) return start;
    return static_cast<std::byte*>(quiet_memory().allocate(bytes + kSpare, kSpare)) + kAfterSpare;
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) override {
    if (!is_large(bytes, alignment)) return quiet_memory().deallocate(pointer, bytes, alignment);
    if (reinterpret_cast<std::uintptr_t>(pointer) % kPage == 0) {
      munmap(pointer, bytes);
    } else {
      quiet_memory().deallocate(static_cast<std::byte*>(pointer) - kAfterSpare, bytes + kSpare, kSpare);
    }
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

std::pmr::memory_resource& mapped_memory() {
  // Never destroyed: rows are written while the process ends.
  static auto* const memory = new MappedMemory;
  return *memory;
}

}  // namespace syscost
