// SPDX-License-Identifier: MIT
#include "backends/dispatch/patch_plan.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "os/files.h"

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

namespace {

using signal_safe::kTrampolineBytes;

constexpr std::intptr_t kReachOfAJump = std::intptr_t{1} << 30;  // half of what a near jump can, for room on both sides

/// True when the site always makes the same call, and it needs no care.
bool makes_plain_call(const Site& site) {
  constexpr unsigned char kMovToEax = 0xb8;
  constexpr unsigned char kXorEaxEax[] = {0x31, 0xc0};  // read
  std::uint32_t number = 0;
  if (site.displaced[0] == kMovToEax && site.displaced_bytes == kJumpBytes) {
    std::memcpy(&number, site.displaced + 1, sizeof number);
  } else if (site.displaced_bytes != sizeof kXorEaxEax ||
             std::memcmp(site.displaced, kXorEaxEax, sizeof kXorEaxEax) != 0) {
    return false;
  }
  return number < sizeof syscost_is_special && (syscost_is_special[number] & signal_safe::kNeedsCare) == 0;
}

std::uintptr_t page_of(const unsigned char* address) {
  return reinterpret_cast<std::uintptr_t>(address) & ~(kPage - 1);
}

/// True if a near jump from this memory reaches all of libc, and one from libc reaches this memory.
bool is_near_libc(std::intptr_t begin) {
  const auto near = reinterpret_cast<std::intptr_t>(libc_text().begin);
  return begin > near - kReachOfAJump && begin < near + kReachOfAJump;
}

/// Maps writable memory for trampolines within reach of libc; null if there is no room.
unsigned char* map_near_libc(std::size_t bytes) {
  auto map = [bytes](std::intptr_t at, int flags) {
    return mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  };
  // The kernel's choice is below libraries as a rule.
  if (void* mapped = map(0, 0); mapped != MAP_FAILED) {
    if (is_near_libc(reinterpret_cast<std::intptr_t>(mapped))) return static_cast<unsigned char*>(mapped);
    munmap(mapped, bytes);
  }
  std::istringstream maps(read_small_file("/proc/self/maps"));
  std::intptr_t gap = 1 << 16;  // never address 0
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    const auto room = static_cast<std::intptr_t>(begin) - static_cast<std::intptr_t>(bytes);
    // Right below a mapping, so that the stack of a growing one above keeps its room.
    if (room >= gap && is_near_libc(room)) {
      void* mapped = map(room & ~static_cast<std::intptr_t>(kPage - 1), MAP_FIXED_NOREPLACE);
      if (mapped != MAP_FAILED) return static_cast<unsigned char*>(mapped);
    }
    gap = static_cast<std::intptr_t>(end);
  }
  return nullptr;
}

void write_trampoline(unsigned char* at, const Site& site) {
  constexpr unsigned char kLoadRcx[] = {0x48, 0xb9};                              // movabs $way_back,%rcx
  constexpr unsigned char kLoadR11[] = {0x49, 0xbb};                              // movabs $way_back,%r11
  constexpr unsigned char kJumpToNext8[] = {0xff, 0x25, 0x00, 0x00, 0x00, 0x00};  // jmp *0(%rip)
  at[kTrampolineBytes - 1] = static_cast<unsigned char>(site.displaced_bytes);
  auto append = [&at](const void* bytes, std::size_t count) {
    std::memcpy(at, bytes, count);
    at += count;
  };
  const bool is_plain = makes_plain_call(site);
  const void* stub = is_plain ? syscost_stub_plain : syscost_stub;
  append(site.displaced, site.displaced_bytes);
  append(is_plain ? kLoadR11 : kLoadRcx, sizeof kLoadRcx);
  append(&site.return_address, sizeof site.return_address);
  append(kJumpToNext8, sizeof kJumpToNext8);
  append(&stub, sizeof stub);
}

Change change_to(unsigned char* at, std::size_t count, const std::array<unsigned char, kJumpBytes>& content) {
  Change change{at, count, {}, {}};
  std::copy_n(at, count, change.original.begin());
  std::copy_n(content.begin(), count, change.content.begin());
  return change;
}

Change long_jump(unsigned char* at, const unsigned char* to) {
  const auto distance = static_cast<std::int32_t>(to - (at + kJumpBytes));
  std::array<unsigned char, kJumpBytes> jump = {0xe9};
  std::memcpy(jump.data() + 1, &distance, sizeof distance);
  return change_to(at, kJumpBytes, jump);
}

Change short_jump(unsigned char* at, const unsigned char* to) {
  const auto distance = static_cast<std::int8_t>(to - (at + kShortJumpBytes));
  return change_to(at, kShortJumpBytes, {0xeb, static_cast<unsigned char>(distance)});
}

Patch make_patch(const Site& site, const unsigned char* trampoline) {
  Patch patch{site, {}};
  if (site.bridge == nullptr) {
    patch.changes = {long_jump(site.displaced, trampoline)};
    return patch;
  }
  patch.changes = {short_jump(site.displaced, site.bridge), long_jump(site.bridge, trampoline)};
  if (site.bridge < site.displaced) std::swap(patch.changes[0], patch.changes[1]);
  return patch;
}

PatchPlan make_plan() {
  PatchPlan plan;
  const Text text = libc_text();
  const Sites sites = prove_sites(text, find_function);
  plan.refused = sites.refused;
  if (sites.proven.empty()) {
    plan.why_not = "no call site of libc can be proven safe to patch";
    return plan;
  }
  const std::size_t bytes = (sites.proven.size() * kTrampolineBytes + kPage - 1) & ~(kPage - 1);
  unsigned char* const trampolines = map_near_libc(bytes);
  if (trampolines == nullptr) {
    plan.why_not = "there is no room for jumps near libc";
    return plan;
  }
  unsigned char* trampoline = trampolines;
  for (const Site& site : sites.proven) {
    write_trampoline(trampoline, site);
    plan.patches.push_back(make_patch(site, trampoline));
    trampoline += kTrampolineBytes;
  }
  if (mprotect(trampolines, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(trampolines, bytes);
    plan.patches.clear();
    plan.why_not = "memory may not be made executable here";
    return plan;
  }
  syscost_state.trampolines = reinterpret_cast<std::uint64_t>(trampolines);
  syscost_state.trampolines_bytes = bytes;
  syscost_state.patched_text = reinterpret_cast<std::uint64_t>(text.begin);
  syscost_state.patched_text_bytes = static_cast<std::uint64_t>(text.end - text.begin);
  return plan;
}

}  // namespace

Pages PatchPlan::pages() const {
  const unsigned char* first = patches.front().changes.front().at;
  const unsigned char* last = first;
  for (const Patch& patch : patches) {
    first = std::min<const unsigned char*>(first, patch.changes.front().at);
    last = std::max<const unsigned char*>(last, patch.changes.back().at + patch.changes.back().count - 1);
  }
  return {reinterpret_cast<unsigned char*>(page_of(first)), reinterpret_cast<unsigned char*>(page_of(last) + kPage)};
}

PatchPlan& patch_plan() {
  static auto* const plan = new PatchPlan(make_plan());  // never destroyed: static destructors may still measure
  return *plan;
}

}  // namespace syscost::dispatch
