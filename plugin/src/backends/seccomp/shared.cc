// SPDX-License-Identifier: MIT
#include "backends/seccomp/shared.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <ctime>
#include <iterator>
#include <new>

#include "os/own_calls.h"
#include "os/own_memory.h"
#include "os/spin_lock.h"

namespace syscost::seccomp {

Shared* map_shared() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  note_own_mapping(memory, sizeof(Shared));
  // Zeroed pages are what its constructor would make, at the price of touching every one.
  return static_cast<Shared*>(memory);
}

void unmap_shared(Shared* shared) {
  forget_own_mapping(shared);
  munmap(shared, sizeof(Shared));
}

bool let_children_inherit(Shared& shared, bool inherit) {
  return madvise(&shared, sizeof(Shared), inherit ? MADV_DOFORK : MADV_DONTFORK) == 0;
}

void wait_for_phase(Shared& shared, std::uint32_t seen, int timeout_ms) {
  const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  marked_call(shared.cookie, SYS_futex, &shared.phase, FUTEX_WAIT, seen, &timeout);
}

void set_phase(Shared& shared, Phase phase) {
  shared.phase.store(phase, std::memory_order_seq_cst);
  marked_call(shared.cookie, SYS_futex, &shared.phase, FUTEX_WAKE, 8);
}

namespace {

// About a tenth of a second of waiting: far beyond counting a call, and most pauses of a virtual CPU.
constexpr int kMaxSpins = 2'000'000;

struct Counted {
  std::uint64_t entries = 0;
  std::uint64_t altered = 0;
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
  const bool has_altered = bank.has_altered.exchange(false, std::memory_order_acquire);
  const bool has_others = makers != nullptr && makers->has_others.exchange(false, std::memory_order_acquire);
  for (std::size_t word = 0; word < std::size(bank.touched); ++word) {
    std::uint64_t bits = bank.touched[word].load(std::memory_order_acquire);
    if (bits == 0) continue;
    bank.touched[word].store(0, std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) {
      const auto index = static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      Counted counted{.entries = take(bank.entries[index])};
      if (has_altered) counted.altered = take(bank.altered[index]);
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
    tally.altered += counted.altered;
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

namespace {

/// `cookie` identifies the installation that read it.
struct ThreadIdentity {
  std::uint64_t cookie = 0;
  std::int32_t thread = 0;
};
thread_local ThreadIdentity t_identity __attribute__((tls_model("initial-exec")));

}  // namespace

std::int32_t calling_thread(const Shared& shared) {
  if (t_identity.cookie == shared.cookie) return t_identity.thread;
  const long thread = marked_call(shared.cookie, SYS_gettid);
  if (thread <= 0 || static_cast<std::size_t>(thread) >= kThreadIds) return 0;
  t_identity = {shared.cookie, static_cast<std::int32_t>(thread)};
  return t_identity.thread;
}

}  // namespace syscost::seccomp
