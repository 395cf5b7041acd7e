// SPDX-License-Identifier: MIT
#include "extras/profilers/profiler.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

namespace syscost::profilers {
namespace {

const std::size_t kPageBytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

}  // namespace

Result<WindowWord> WindowWord::make() {
  void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno_failure("reserve", "a page for the window's word", errno);
  madvise(page, kPageBytes, MADV_WIPEONFORK);
  // The kernel may refuse each of these. A read may then fail; the scripts count such a read, so no loss is silent.
  // The policy keeps NUMA balancing from unmapping the page now and then to see who uses it.
  syscall(SYS_mbind, page, kPageBytes, MPOL_PREFERRED, nullptr, 0UL, 0U);
  mlock(page, kPageBytes);
  return WindowWord(new (page) std::atomic<std::uint64_t>(kDisarmed));
}

WindowWord::~WindowWord() {
  if (word_ != nullptr) munmap(static_cast<void*>(word_), kPageBytes);
}

WindowWord::WindowWord(WindowWord&& other) noexcept : word_(std::exchange(other.word_, nullptr)) {}

}  // namespace syscost::profilers
