// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/cells.h"

#include <atomic>

namespace syscost::signal_safe {
namespace {

constexpr std::uint64_t kX32Bit = 0x4000'0000;
constexpr std::uint64_t kUnlisted = 1ULL << 63;

std::uint64_t load(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}
std::uint32_t load(const std::uint32_t& word) {
  return std::atomic_ref(const_cast<std::uint32_t&>(word)).load(std::memory_order_acquire);
}

std::uint32_t allocate_slot(Directory& directory, std::uint64_t syscall) {
  std::atomic_ref used(directory.slots_used);
  if (used.load() >= kSlots) return kSlots;
  const std::uint32_t fresh = used.fetch_add(1);
  if (fresh >= kSlots) return kSlots;
  std::atomic_ref(directory.syscall_of[fresh]).store(syscall);
  return fresh;
}

std::uint32_t slots_in_use(const std::uint32_t& used, std::uint32_t most) {
  const std::uint32_t count = load(used);
  return count < most ? count : most;
}

// Numbers beyond the tables are rare and never valid. Two threads that see one first at the same time give it two
// slots, which the reader adds up.
std::uint32_t slot_of_unlisted(Directory& directory, std::uint64_t syscall) {
  for (std::uint32_t slot = 0; slot < slots_in_use(directory.slots_used, kSlots); ++slot) {
    if (load(directory.syscall_of[slot]) == syscall) return slot;
  }
  return allocate_slot(directory, syscall);
}

std::uint32_t allocate_error_slot(Directory& directory, std::uint32_t key) {
  std::atomic_ref used(directory.error_slots_used);
  if (used.load() >= kErrorSlots) return kErrorSlots;
  const std::uint32_t fresh = used.fetch_add(1);
  if (fresh >= kErrorSlots) return kErrorSlots;
  std::atomic_ref(directory.error_of[fresh]).store(key);
  return fresh;
}

}  // namespace

std::uint32_t slot_of(Directory& directory, const Call& call) {
  std::uint64_t abi = call.abi;
  std::uint64_t number = static_cast<std::uint32_t>(call.number);  // all that the kernel looks at
  if (abi == 0 && number >= kX32Bit && number < 2 * kX32Bit) {
    abi = 2;
    number -= kX32Bit;
  }
  if (number >= kNumbers) {
    if (directory.ignores_unlisted != 0) return kNotSelected;
    return slot_of_unlisted(directory, kUnlisted | abi << 32 | static_cast<std::uint32_t>(number));
  }
  std::uint32_t& entry = directory.slot_of[abi * kNumbers + number];
  std::uint32_t known = load(entry);
  if (known == kNotSelected) return known;
  if (known != 0) return known - 1;
  const std::uint32_t fresh = allocate_slot(directory, abi << 32 | number);
  if (fresh >= kSlots) return kSlots;
  if (std::atomic_ref(entry).compare_exchange_strong(known, fresh + 1)) return fresh;
  return known - 1;
}

std::uint32_t slot_of(Directory& directory, const Call& call, FileKinds kinds) {
  const std::uint32_t plain = slot_of(directory, call);
  if (kinds == 0 || plain >= kSlots) return plain;
  const std::uint64_t key = load(directory.syscall_of[plain]) | std::uint64_t{kinds} << kKindsAt;
  constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  constexpr unsigned kTopBits = 57;
  static_assert(kKindPlaces == 1U << (64 - kTopBits) && kKindSlots < kKindPlaces);
  std::uint32_t fresh = kSlots;
  for (std::uint64_t place = key * kFactor >> kTopBits;; place = (place + 1) % kKindPlaces) {
    std::uint32_t& entry = directory.slot_of_kinds[place];
    std::uint32_t known = load(entry);
    if (known == 0) {
      if (fresh == kSlots) {
        std::atomic_ref used(directory.kind_slots_used);
        if (used.load() >= kKindSlots || used.fetch_add(1) >= kKindSlots) return plain;
        fresh = allocate_slot(directory, key);
        if (fresh >= kSlots) return plain;
      }
      if (std::atomic_ref(entry).compare_exchange_strong(known, fresh + 1)) return fresh;
    }
    if (load(directory.syscall_of[known - 1]) == key) return known - 1;
  }
}

std::uint32_t error_slot_of(Directory& directory, std::uint32_t slot, std::uint32_t error) {
  const std::uint32_t key = slot << 16 | error;
  if (error >= kErrnos) {
    for (std::uint32_t i = 0; i < slots_in_use(directory.error_slots_used, kErrorSlots); ++i) {
      if (load(directory.error_of[i]) == key) return i;
    }
    return allocate_error_slot(directory, key);
  }
  std::uint32_t& entry = directory.error_slot_of[slot * kErrnos + error];
  std::uint32_t known = load(entry);
  if (known != 0) return known - 1;
  const std::uint32_t fresh = allocate_error_slot(directory, key);
  if (fresh >= kErrorSlots) return kErrorSlots;
  if (std::atomic_ref(entry).compare_exchange_strong(known, fresh + 1)) return fresh;
  return known - 1;
}

}  // namespace syscost::signal_safe
