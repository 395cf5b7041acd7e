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

struct Counted {
  std::uint64_t entries = 0;
  std::uint64_t injected = 0;
  std::uint64_t started = 0;
  std::uint64_t older = 0;
};

std::uint64_t take(std::atomic<std::uint64_t>& cell) {
  const std::uint64_t value = cell.load(std::memory_order_relaxed);
  cell.store(0, std::memory_order_relaxed);
  return value;
}

/// Calls visit(SyscallId, Counted) for each cell that is not 0, and clears them.
template <class Visit>
void drain(Bank& bank, Makers* makers, Visit visit) {
  const bool has_injected = bank.has_injected.exchange(false, std::memory_order_acquire);
  const bool has_others = makers != nullptr && makers->has_others.exchange(false, std::memory_order_acquire);
  for (std::size_t word = 0; word < std::size(bank.touched); ++word) {
    std::uint64_t bits = bank.touched[word].load(std::memory_order_acquire);
    if (bits == 0) continue;
    bank.touched[word].store(0, std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) {
      const auto index = static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      Counted counted{.entries = take(bank.entries[index])};
      if (has_injected) counted.injected = take(bank.injected[index]);
      if (has_others) {
        counted.started = take(makers->started[index]);
        counted.older = take(makers->older[index]);
      }
      visit(SyscallId{static_cast<Abi>(index / Filter::kNumbers), index % Filter::kNumbers}, counted);
    }
  }
  const std::uint64_t used = bank.unlisted_used.load(std::memory_order_acquire);
  for (std::uint64_t place = 0; place < used; ++place) {
    Bank::Unlisted& its = bank.unlisted[place];
    const std::uint64_t key = its.id.load(std::memory_order_relaxed);
    visit(SyscallId{static_cast<Abi>(key >> 32), static_cast<std::uint32_t>(key)},
          Counted{.entries = take(its.entries), .started = take(its.started), .older = take(its.older)});
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

void take(Bank& bank, Makers* makers, const Filter* filter, CallTable& into) {
  drain(bank, makers, [&](SyscallId id, const Counted& counted) {
    if (counted.entries == 0 || (filter != nullptr && !filter->selects(id))) return;
    Tally& tally = into.at(id);
    tally.entries += counted.entries;
    tally.injected += counted.injected;
    tally.by_started_threads += counted.started;
    tally.by_older_threads += counted.older;
  });
}

bool is_touched(const Bank& bank) {
  return bank.unlisted_used.load(std::memory_order_acquire) > 0 ||
         std::any_of(std::begin(bank.touched), std::end(bank.touched),
                     [](const auto& word) { return word.load(std::memory_order_acquire) != 0; });
}

void clear(Bank& bank, Makers* makers) {
  drain(bank, makers, [](SyscallId, const Counted&) {});
}

}  // namespace syscost::seccomp
