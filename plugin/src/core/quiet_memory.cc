// SPDX-License-Identifier: MIT
#include "core/quiet_memory.h"

#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <new>

#include "core/spin_lock.h"

namespace syscost {
namespace {

constexpr std::size_t kReservedBytes = std::size_t{256} << 20;

/// A pool over one reserved stretch, behind a lock that does not sleep.
class QuietMemory final : public std::pmr::memory_resource {
 public:
  QuietMemory() : stretch_(reserve(), kReservedBytes, std::pmr::new_delete_resource()), pool_(&stretch_) {}

 private:
  static void* reserve() {
    // NORESERVE: address space now, pages when touched. The fallback is what a strict overcommit policy leaves us.
    void* start =
        mmap(nullptr, kReservedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start != MAP_FAILED ? start : ::operator new(kReservedBytes);
  }

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
  std::pmr::monotonic_buffer_resource stretch_;
  std::pmr::unsynchronized_pool_resource pool_;
};

}  // namespace

std::pmr::memory_resource& quiet_memory() {
  // Never destroyed: a Cost may be read by a static destructor.
  static auto* const memory = new QuietMemory;
  return *memory;
}

}  // namespace syscost
