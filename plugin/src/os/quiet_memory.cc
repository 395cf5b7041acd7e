// SPDX-License-Identifier: MIT
#include "os/quiet_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "os/memory_room.h"
#include "os/own_memory.h"
#include "os/spin_lock.h"

namespace syscost {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{10} << 20;  // the rows of 10 000 scopes need nine
constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// Hands out reserved stretches from front to back and takes nothing of them back; the pool above reuses.
class Reserve final : public std::pmr::memory_resource {
 public:
  bool is_running_low() const { return used_ > reserved_ / 2; }
  bool is_scarce() const { return used_ > reserved_ - reserved_ / 8; }
  bool is_empty() const { return reserved_ == 0; }

  /// Makes `bytes` more available. False, with errno, when they cannot be had.
  bool grow(std::size_t bytes) {
    if (stretch_count_ == stretches_.size()) return false;
    // NORESERVE: address space now, pages when touched.
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    note_own_mapping(start, bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    stretches_[stretch_count_++] = {begin, begin, begin + bytes};
    reserved_ += bytes;
    return true;
  }
  std::size_t next_bytes() const { return std::clamp(reserved_, kFirstBytes, kMostBytes); }

 private:
  struct Stretch {
    std::uintptr_t begin = 0;
    std::uintptr_t free = 0;
    std::uintptr_t end = 0;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    for (std::size_t i = 0; i < stretch_count_; ++i) {
      Stretch& stretch = stretches_[i];
      const std::uintptr_t start = (stretch.free + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
      if (start > stretch.end || bytes > stretch.end - start) continue;
      used_ += start + bytes - stretch.free;
      stretch.free = start + bytes;
      return reinterpret_cast<void*>(start);  // NOLINT(performance-no-int-to-ptr): addresses are what this is about
    }
    used_ += bytes;
    return allocate_aligned(bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t /*alignment*/) override {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    for (std::size_t i = 0; i < stretch_count_; ++i) {
      if (address >= stretches_[i].begin && address < stretches_[i].end) return;
    }
    used_ -= bytes;
    ::operator delete(static_cast<void**>(pointer)[-1]);
  }
  /// From the program's heap by malloc() alone: a program may define aligned_alloc(), which the C++ library would call.
  static void* allocate_aligned(std::size_t bytes, std::size_t alignment) {
    void* const whole = ::operator new(bytes + alignment + sizeof(void*));
    const auto first = reinterpret_cast<std::uintptr_t>(whole) + sizeof(void*);
    const std::uintptr_t aligned = (first + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    auto* const at = reinterpret_cast<void**>(aligned);  // NOLINT(performance-no-int-to-ptr)
    at[-1] = whole;
    return at;
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::array<Stretch, 64> stretches_;
  std::size_t stretch_count_ = 0;
  std::size_t reserved_ = 0;
  std::size_t used_ = 0;
};

/// A pool over the reserve, protected by a lock that does not sleep.
class QuietMemory final : public std::pmr::memory_resource {
 public:
  QuietMemory() { static_cast<void>(top_up()); }

  Result<void> top_up() {
    std::lock_guard guard(lock_);
    if (!reserve_.is_running_low() && !reserve_.is_empty()) return {};
    if (reserve_.grow(fitting_reserve(reserve_.next_bytes(), kLeastBytes)) || reserve_.grow(kLeastBytes) ||
        !reserve_.is_empty())
      return {};
    return errno_failure("reserve", "1 MiB of memory for the counts", errno);
  }
  bool is_scarce() {
    std::lock_guard guard(lock_);
    return reserve_.is_scarce();
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    std::lock_guard guard(lock_);
    return pool_.allocate(bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) override {
    std::lock_guard guard(lock_);
    pool_.deallocate(pointer, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  SpinLock lock_;
  Reserve reserve_;
  // Small chunks: one that does not fit into what is left would come from malloc.
  std::pmr::unsynchronized_pool_resource pool_{{.max_blocks_per_chunk = 32, .largest_required_pool_block = 64 << 10},
                                               &reserve_};
};

QuietMemory& the_memory() {
  // Never destroyed: a Cost may be read by a static destructor.
  static auto* const memory = new QuietMemory;
  return *memory;
}

}  // namespace

std::pmr::memory_resource& quiet_memory() {
  return the_memory();
}

Result<void> top_up_quiet_memory() {
  return the_memory().top_up();
}

bool is_quiet_memory_scarce() {
  return the_memory().is_scarce();
}

}  // namespace syscost
