// SPDX-License-Identifier: MIT
#include "backends/seccomp/fault_book.h"

#include <sys/mman.h>

namespace syscost::seccomp {

FaultBook* map_fault_book() {
  void* memory =
      mmap(nullptr, sizeof(FaultBook), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<FaultBook*>(memory);
}

void unmap_fault_book(FaultBook* book) {
  if (book != nullptr) munmap(book, sizeof(FaultBook));
}

bool keep_from_children(FaultBook* book) {
  return madvise(book, sizeof(FaultBook), MADV_DONTFORK) == 0;
}

}  // namespace syscost::seccomp
