// SPDX-License-Identifier: MIT
#include "backends/dispatch/code_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#include "backends/dispatch/stub/raw.h"
#include "os/small_file.h"

namespace syscost::dispatch {
namespace {

constexpr long kSyncCore = 1 << 5;        // MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE
constexpr long kPopulateForReading = 22;  // MADV_POPULATE_READ, missing in older headers

bool is_error(long result) {
  return result < 0 && result > -4096;
}

/// Writes the content of `change` into `copy`, the copy of `pages`, as far as it lies within these pages.
void put(const Change& change, const Pages& pages, unsigned char* copy) {
  for (std::size_t i = 0; i < change.count; ++i) {
    const auto at = static_cast<std::size_t>(change.at + i - pages.begin);
    if (at < pages.bytes()) copy[at] = change.content[i];
  }
}

/// Applies `change` to `expected`, the bytes that the file has for `page`, where they are the original ones.
void expect(const Change& change, const unsigned char* page, unsigned char* expected) {
  for (std::size_t i = 0; i < change.count; ++i) {
    const auto at = static_cast<std::size_t>(change.at + i - page);
    if (at < kPage && expected[at] == change.original[i]) expected[at] = change.content[i];
  }
}

}  // namespace

std::vector<bool> compare_with_file(const Pages& pages, const std::vector<bool>& readable,
                                    std::span<const Change> changes, const CodeFile& file) {
  std::vector<bool> same(pages.count());
  if (file.descriptor < 0) return same;
  // The file is read, not mapped: a program that changed its root may have given the file's name to an empty file,
  // where touching a mapping is SIGBUS, or to a pipe.
  constexpr std::size_t kPagesAtOnce = 8;
  std::vector<unsigned char> of_file(kPagesAtOnce * kPage);
  auto change = changes.begin();
  long got = 0;
  for (std::size_t i = 0; i < pages.count(); ++i) {
    const std::size_t offset = i % kPagesAtOnce * kPage;
    if (offset == 0) {
      got = syscost_raw_syscall(SYS_pread64, file.descriptor, reinterpret_cast<long>(of_file.data()),
                                static_cast<long>(of_file.size()), file.offset + static_cast<long>(i * kPage));
    }
    if (!readable[i] || got < static_cast<long>(offset + kPage)) continue;
    const unsigned char* const page = pages.begin + i * kPage;
    unsigned char* const expected = of_file.data() + offset;
    while (change != changes.end() && change->at + change->count <= page) ++change;
    for (auto here = change; here != changes.end() && here->at < page + kPage; ++here) {
      if (here->is_made()) expect(*here, page, expected);
    }
    same[i] = std::memcmp(expected, page, kPage) == 0;
  }
  return same;
}

std::vector<bool> are_mapped_as_code(const Pages& pages) {
  std::vector<bool> are_code(pages.count(), true);
  std::istringstream maps(read_small_file("/proc/self/maps"));
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  char rights[5] = {};
  for (std::string line; std::getline(maps, line);) {
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights) != 3) break;
    if (begin >= reinterpret_cast<std::uintptr_t>(pages.end)) break;
    if (std::string_view(rights) == "r-xp") continue;
    for (std::size_t i = 0; i < pages.count(); ++i) {
      const auto page = reinterpret_cast<std::uintptr_t>(pages.begin) + i * kPage;
      if (page >= begin && page < end) are_code[i] = false;
    }
  }
  return are_code;
}

const char* replace_code(const Pages& pages, std::span<const Change> changes, CopyOf source, const CodeFile& file) {
  const bool is_of_file = source != CopyOf::memory;
  const auto bytes = static_cast<long>(pages.bytes());
  const long copy = syscost_raw_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
                                        is_of_file ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS,
                                        is_of_file ? file.descriptor : -1, is_of_file ? file.offset : 0);
  if (is_error(copy)) return "there is no memory for a copy of the code";
  auto* const into = reinterpret_cast<unsigned char*>(copy);
  if (source != CopyOf::file) std::memcpy(into, pages.begin, pages.bytes());
  for (const Change& change : changes) {
    // A page that is not written to stays the file's.
    if (source != CopyOf::file || change.content != change.original) {
      put(change, pages, into);
    }
  }
  const char* why_not = nullptr;
  if (syscost_raw_syscall(SYS_mprotect, copy, bytes, PROT_READ | PROT_EXEC) != 0) {
    why_not = "memory may not be made executable here";
  } else if (is_error(syscost_raw_syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                          reinterpret_cast<long>(pages.begin)))) {
    why_not = "code may not be replaced here";
  }
  if (why_not != nullptr) {
    syscost_raw_syscall(SYS_munmap, copy, bytes);
    return why_not;
  }
  // Moving pages has updated the address translation of each processor. This also discards the instructions that it has
  // fetched already, if the kernel knows the command.
  syscost_raw_syscall(SYS_membarrier, kSyncCore, 0, 0);
  // Without it, the program would have page faults that it has not without us. Older kernels do not know it.
  syscost_raw_syscall(SYS_madvise, reinterpret_cast<long>(pages.begin), bytes, kPopulateForReading);
  return nullptr;
}

bool forget_changes(const Pages& pages) {
  const auto bytes = static_cast<long>(pages.bytes());
  const bool is_done = syscost_raw_syscall(SYS_madvise, reinterpret_cast<long>(pages.begin), bytes, MADV_DONTNEED) == 0;
  if (is_done) syscost_raw_syscall(SYS_membarrier, kSyncCore, 0, 0);
  return is_done;
}

}  // namespace syscost::dispatch
