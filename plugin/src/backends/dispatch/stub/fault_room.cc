// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/fault_room.h"

#include <atomic>

#include "backends/dispatch/stub/memory.h"

namespace syscost::signal_safe {
namespace {

FaultRoom* known_room(Thread& thread) {
  return static_cast<FaultRoom*>(std::atomic_ref(thread.fault_room).load(std::memory_order_acquire));
}

}  // namespace

FaultRoom* fault_room_of(const Guard& guard, Thread& thread) {
  if (FaultRoom* const known = known_room(thread)) return known;
  void* const fresh = take_memory(guard, sizeof(FaultRoom));
  if (fresh == nullptr) return nullptr;
  // A signal handler of this thread may have done the same in between, and counted: the first wins.
  void* known = nullptr;
  return static_cast<FaultRoom*>(std::atomic_ref(thread.fault_room).compare_exchange_strong(known, fresh) ? fresh
                                                                                                          : known);
}

void clear_fault_room(Thread& thread) {
  FaultRoom* const room = known_room(thread);
  if (room == nullptr) return;
  if (room->path != nullptr) *static_cast<std::uint64_t*>(room->path) = 0;
  for (FaultCount& count : room->matches) std::atomic_ref(count).store(0, std::memory_order_relaxed);
}

void clear_fault_place(std::uint32_t place, std::uint64_t generation) {
  const std::uint32_t threads = std::atomic_ref(syscost_state.thread_high).load();
  for (std::uint32_t i = 0; i < threads; ++i) {
    FaultRoom* const room = known_room(syscost_threads[i]);
    // A thread that still looks at the place's last rule finds another generation, and counts nothing.
    if (room != nullptr) std::atomic_ref(room->matches[place]).store(first_count(generation));
  }
}

}  // namespace syscost::signal_safe
