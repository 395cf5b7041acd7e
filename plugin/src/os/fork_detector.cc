// SPDX-License-Identifier: MIT
#include "os/fork_detector.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace syscost {

ForkDetector::ForkDetector() : owner_(getpid()) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, size, MADV_WIPEONFORK) != 0) {
    munmap(page, size);
    return;
  }
  int* mark = static_cast<int*>(page);
  *mark = 1;
  mark_ = mark;
}

bool ForkDetector::is_fork_child() const {
  return mark_ != nullptr ? *mark_ == 0 : getpid() != owner_;
}

}  // namespace syscost
