// SPDX-License-Identifier: MIT
#include "backends/seccomp/shared.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <new>

#include "os/marked_call.h"
#include "os/own_memory.h"

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

}  // namespace syscost::seccomp
