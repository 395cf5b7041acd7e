// SPDX-License-Identifier: MIT
#include "backends/seccomp/counts.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "os/spin_lock.h"

namespace syscost::seccomp {
namespace {

// About a tenth of a second of waiting: far beyond counting a call, and most pauses of a virtual CPU.
constexpr int kMaxSpins = 2'000'000;

/// Calls visit(SyscallId, entries, injected) for each cell that is not 0, and clears them.
template <class Visit>
void drain(Bank& bank, Visit visit) {
  const bool has_injected = bank.has_injected.exchange(false, std::memory_order_acquire);
  for (std::size_t word = 0; word < std::size(bank.touched); ++word) {
    std::uint64_t bits = bank.touched[word].load(std::memory_order_acquire);
    if (bits == 0) continue;
    bank.touched[word].store(0, std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) {
      const auto index = static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      visit(SyscallId{static_cast<Abi>(index / Filter::kNumbers), index % Filter::kNumbers},
            bank.entries[index].load(std::memory_order_relaxed),
            has_injected ? bank.injected[index].load(std::memory_order_relaxed) : 0);
      if (has_injected) bank.injected[index].store(0, std::memory_order_relaxed);
      bank.entries[index].store(0, std::memory_order_relaxed);
    }
  }
  const std::uint64_t used = bank.unlisted_used.load(std::memory_order_acquire);
  for (std::uint64_t place = 0; place < used; ++place) {
    const std::uint64_t key = bank.unlisted[place].id.load(std::memory_order_relaxed);
    visit(SyscallId{static_cast<Abi>(key >> 32), static_cast<std::uint32_t>(key)},
          bank.unlisted[place].entries.load(std::memory_order_relaxed), 0);
    bank.unlisted[place].entries.store(0, std::memory_order_relaxed);
  }
  bank.unlisted_used.store(0, std::memory_order_release);
}

}  // namespace

bool wait_for_supervisor(const Shared& shared) {
  const std::uint64_t seen = shared.sequence.load(std::memory_order_seq_cst);
  if ((seen & 1) == 0) return true;
  for (int spin = 0; spin < kMaxSpins; ++spin) {
    if (shared.sequence.load(std::memory_order_acquire) != seen) return true;
    relax_cpu();
  }
  return false;
}

void take(Bank& bank, const Filter* filter, CallTable& into) {
  drain(bank, [&](SyscallId id, std::uint64_t entries, std::uint64_t injected) {
    if (entries == 0 || (filter != nullptr && !filter->selects(id))) return;
    Tally& tally = into.at(id);
    tally.entries += entries;
    tally.injected += injected;
  });
}

bool is_touched(const Bank& bank) {
  return bank.unlisted_used.load(std::memory_order_acquire) > 0 ||
         std::any_of(std::begin(bank.touched), std::end(bank.touched),
                     [](const auto& word) { return word.load(std::memory_order_acquire) != 0; });
}

void clear(Bank& bank) {
  drain(bank, [](SyscallId, std::uint64_t, std::uint64_t) {});
}

}  // namespace syscost::seccomp
