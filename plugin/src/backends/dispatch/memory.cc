// SPDX-License-Identifier: MIT
#include "backends/dispatch/memory.h"

#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "os/memory.h"
#include "os/own_memory.h"

namespace syscost::dispatch {
namespace {

using signal_safe::Account;
using signal_safe::kLanes;

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;

void* map(std::size_t bytes) {
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? nullptr : start;
}

bool ticks_evenly() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kAdvancedPower = 0x8000'0007;
  constexpr unsigned kInvariant = 1U << 8;
  return __get_cpuid(kAdvancedPower, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
}

std::uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The position of each part of the processor's vector state in a signal's frame. On a virtual machine each cpuid takes
/// tens of microseconds, so this reads only the enabled parts.
void learn_vector_parts() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  unsigned features[4] = {};
  constexpr unsigned kOsxsave = 1U << 27;
  if (__get_cpuid(1, &features[0], &features[1], &features[2], &features[3]) == 0) return;
  if ((features[2] & kOsxsave) == 0) return;  // xgetbv would be an illegal instruction
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const std::uint64_t is_on = std::uint64_t{high} << 32 | low;
  constexpr unsigned kExtendedState = 0xd;
  for (unsigned part = 2; part < signal_safe::kVectorParts; ++part) {
    if ((is_on >> part & 1) == 0) continue;
    unsigned bytes = 0;
    unsigned offset = 0;
    unsigned c = 0;
    unsigned d = 0;
    __cpuid_count(kExtendedState, part, bytes, offset, c, d);
    syscost_state.vector_parts[part] = {offset, bytes};
  }
}

}  // namespace

// Keeps the shortest of several tries.
Instant read_both_clocks() {
  Instant best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = signal_safe::read_ticks();
    const std::uint64_t ns = clock_ns();
    const std::uint64_t took = signal_safe::read_ticks() - before;
    if (took < shortest) {
      shortest = took;
      best = {before + took / 2, ns};
    }
  }
  return best;
}

Result<void> reserve_memory() {
  if (syscost_state.arena != nullptr) return {};
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* lanes = map(std::max(page, kLanes * sizeof(signal_safe::Lane)));
  if (lanes == nullptr) return errno_failure("reserve", "memory for the dispatch backend", errno);
  // A child made by fork finds every lane disarmed, because it is not measured.
  if (madvise(lanes, std::max(page, kLanes * sizeof(signal_safe::Lane)), MADV_WIPEONFORK) != 0) {
    return errno_failure("set", "MADV_WIPEONFORK", errno);
  }
  std::size_t bytes = fitting_reserve(kArenaBytes, signal_safe::kSmallArenaBytes);
  void* arena = map(bytes);
  if (arena == nullptr) arena = map(bytes = signal_safe::kSmallArenaBytes);
  if (arena == nullptr) return errno_failure("reserve", "memory for the dispatch backend", errno);
  // The arena counts only as far as the stub does not give it back before the program locks its memory.
  note_own_libraries();
  note_own_mapping(lanes, kLanes * sizeof(signal_safe::Lane));
  note_own_mapping(arena, std::min(bytes, std::size_t{signal_safe::kSmallArenaBytes}));
  syscost_state.lock_all_but_ours = lock_all_but_ours;
  syscost_state.lanes = static_cast<signal_safe::Lane*>(lanes);
  syscost_state.shared_account.is_shared = true;
  auto* accounts = static_cast<Account*>(arena);
  for (std::uint32_t lane = 1; lane < kLanes; ++lane) syscost_state.lanes[lane].account = accounts + lane;
  constexpr unsigned long kFrameBytes = 51;  // AT_MINSIGSTKSZ, missing in older headers
  constexpr unsigned long kWithAvx512 = 3632;
  const unsigned long frame_bytes = getauxval(kFrameBytes);
  syscost_state.frame_bytes = frame_bytes != 0 ? frame_bytes : kWithAvx512;
  learn_vector_parts();
  syscost_state.arena_used = (sizeof(Account) * kLanes + 63) / 64 * 64;
  syscost_state.arena_bytes = bytes;
  syscost_state.arena = static_cast<char*>(arena);
  return {};
}

ClockRate::ClockRate() {
  if (syscost_state.ns_per_tick != 0 || !ticks_evenly()) return;
  const Instant first = read_both_clocks();
  ticks_ = first.ticks;
  ns_ = first.ns;
}

void ClockRate::settle() const {
  if (ns_ == 0) return;
  // The two readings are off by some ten nanoseconds each: a ten-thousandth of this at most.
  constexpr std::uint64_t kLongEnoughNs = 500'000;
  Instant last = read_both_clocks();
  while (last.ns - ns_ < kLongEnoughNs) last = read_both_clocks();
  const auto ratio = (static_cast<unsigned __int128>(last.ns - ns_) << 32) / (last.ticks - ticks_);
  syscost_state.ns_per_tick = static_cast<std::uint64_t>(ratio);
}

}  // namespace syscost::dispatch
