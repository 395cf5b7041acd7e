// SPDX-License-Identifier: MIT
#include "backends/seccomp/ledger.h"

#include <sys/mman.h>

namespace syscost::seccomp {

Ledger* map_ledger() {
  void* memory =
      mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Ledger*>(memory);
}

void unmap_ledger(Ledger* ledger) {
  munmap(ledger, sizeof(Ledger));
}

}  // namespace syscost::seccomp
