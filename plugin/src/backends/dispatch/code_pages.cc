// SPDX-License-Identifier: MIT
#include "backends/dispatch/code_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstring>

#include "backends/dispatch/stub/raw.h"

namespace syscost::dispatch {
namespace {

constexpr long kSyncCore = 1 << 5;  // MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE

bool is_error(long result) {
  return result < 0 && result > -4096;
}

long raw_mmap(int protection, int flags, const CodeFile& file) {
  return syscost_raw_syscall(SYS_mmap, 0, kPage, protection, flags, file.descriptor, file.offset);
}

/// True when the file has this page of code. It is read, not mapped: a program that changed its root may have given the
/// file's name to an empty file, where touching a mapping is SIGBUS, or to a pipe.
bool holds(const CodeFile& file, const unsigned char* page) {
  if (file.descriptor < 0) return false;
  unsigned char content[kPage];
  const long got =
      syscost_raw_syscall(SYS_pread64, file.descriptor, reinterpret_cast<long>(content), kPage, file.offset);
  return got == static_cast<long>(kPage) && std::memcmp(content, page, kPage) == 0;
}

}  // namespace

Replaced replace_page(unsigned char* page, const unsigned char* content, const unsigned char* original,
                      const CodeFile& file) {
  constexpr int kWritable = PROT_READ | PROT_WRITE;
  Replaced done;
  long copy = -1;
  if (original != nullptr && holds(file, original)) copy = raw_mmap(kWritable, MAP_PRIVATE, file);
  done.is_of_file = !is_error(copy);
  if (!done.is_of_file) copy = raw_mmap(kWritable, MAP_PRIVATE | MAP_ANONYMOUS, {-1, 0});
  if (is_error(copy)) return {"there is no memory for a copy of the code", false};
  auto* const bytes = reinterpret_cast<unsigned char*>(copy);
  std::memcpy(bytes, content, kPage);
  if (syscost_raw_syscall(SYS_mprotect, copy, kPage, PROT_READ | PROT_EXEC) != 0) {
    done.why_not = "memory may not be made executable here";
  } else if (is_error(syscost_raw_syscall(SYS_mremap, copy, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED,
                                          reinterpret_cast<long>(page)))) {
    done.why_not = "code may not be replaced here";
  }
  if (done.why_not != nullptr) {
    syscost_raw_syscall(SYS_munmap, copy, kPage);
  } else {
    // Moving the page has reached every processor's translations; this reaches what it has fetched, where it is known.
    syscost_raw_syscall(SYS_membarrier, kSyncCore, 0, 0);
  }
  return done;
}

bool forget_changes(unsigned char* page) {
  const bool is_done = syscost_raw_syscall(SYS_madvise, reinterpret_cast<long>(page), kPage, MADV_DONTNEED) == 0;
  if (is_done) syscost_raw_syscall(SYS_membarrier, kSyncCore, 0, 0);
  return is_done;
}

}  // namespace syscost::dispatch
