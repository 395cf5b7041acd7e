// SPDX-License-Identifier: MIT
#include "backends/dispatch/patches.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/state.h"
#include "backends/dispatch/tracer.h"

namespace syscost::dispatch {
namespace {

using signal_safe::kTrampolineBytes;

constexpr std::size_t kTrampolinesBytes = 16 * kPage;
constexpr std::size_t kMostPatches = kTrampolinesBytes / kTrampolineBytes;
constexpr std::intptr_t kReach = std::intptr_t{1} << 30;  // half of what a near jump can, for room on both sides
constexpr long kRegisterSyncCore = 1 << 6;                // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE

bool is_under_sanitizer() {
  constexpr const char* kRuntimes[] = {"__asan_init", "__tsan_init", "__lsan_init", "__msan_init", "__hwasan_init"};
  return std::any_of(std::begin(kRuntimes), std::end(kRuntimes),
                     [](const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; });
}

/// True when the site always makes the same call, and it needs no care.
bool makes_plain_call(const Site& site) {
  constexpr unsigned char kMovToEax = 0xb8;
  std::uint32_t number = 0;
  if (site.displaced[0] != kMovToEax || site.displaced_bytes != kJumpBytes) return false;
  std::memcpy(&number, site.displaced + 1, sizeof number);
  return number < sizeof syscost_is_special && syscost_is_special[number] == 0;
}

unsigned char* page_start(unsigned char* address) {
  return reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(address) & ~(kPage - 1));
}

}  // namespace

/// The file that libc's text comes from, open while pages are replaced.
class LibcFile {
 public:
  LibcFile()
      : descriptor_(static_cast<int>(
            syscost_raw_syscall(SYS_openat, AT_FDCWD, address_of_path(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))) {}
  ~LibcFile() {
    if (descriptor_ >= 0) syscost_raw_syscall(SYS_close, descriptor_);
  }
  LibcFile(const LibcFile&) = delete;
  LibcFile& operator=(const LibcFile&) = delete;

  CodeFile at(const unsigned char* page) const {
    return {descriptor_, libc_text().file_offset + (page - libc_text().begin)};
  }

 private:
  static long address_of_path() { return reinterpret_cast<long>(libc_text().path); }
  int descriptor_;
};

std::string Patches::obstacle() {
  if (is_under_sanitizer()) return "a sanitizer watches this program";
  if (tracer_pid() != 0) return "a debugger or tracer is attached";
  if (libc_text().begin == nullptr) return "libc is linked statically";
  // Older kernels have none: replaced pages (code_pages.h) do without.
  syscost_raw_syscall(SYS_membarrier, kRegisterSyncCore, 0, 0);
  return {};
}

std::string Patches::reserve_trampolines() {
  const auto near = reinterpret_cast<std::intptr_t>(libc_text().begin);
  std::ifstream maps("/proc/self/maps");
  std::intptr_t gap = 1 << 16;  // never address 0
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    const auto room = static_cast<std::intptr_t>(begin) - static_cast<std::intptr_t>(kTrampolinesBytes);
    // Right below a mapping, so that the stack of a growing one above keeps its room.
    if (room >= gap && room > near - kReach && room < near + kReach) {
      void* mapped = mmap(reinterpret_cast<void*>(room & ~static_cast<std::intptr_t>(kPage - 1)), kTrampolinesBytes,
                          PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (mapped != MAP_FAILED) {
        trampolines_ = static_cast<unsigned char*>(mapped);
        break;
      }
    }
    gap = static_cast<std::intptr_t>(end);
  }
  if (trampolines_ == nullptr) return "there is no room for jumps near libc";
  trampolines_copy_.resize(kTrampolinesBytes);
  syscost_state.trampolines = reinterpret_cast<std::uint64_t>(trampolines_);
  syscost_state.trampolines_bytes = kTrampolinesBytes;
  return {};
}

std::array<unsigned char, kJumpBytes> Patches::add_trampoline(const Site& site) {
  unsigned char* at = trampolines_copy_.data() + used_bytes_;
  auto append = [&at](const void* bytes, std::size_t count) {
    std::memcpy(at, bytes, count);
    at += count;
  };
  constexpr unsigned char kLoadRcx[] = {0x48, 0xb9};                              // movabs $way_back,%rcx
  constexpr unsigned char kLoadR11[] = {0x49, 0xbb};                              // movabs $way_back,%r11
  constexpr unsigned char kJumpToNext8[] = {0xff, 0x25, 0x00, 0x00, 0x00, 0x00};  // jmp *0(%rip)
  const bool is_plain = makes_plain_call(site);
  const void* stub = is_plain ? syscost_stub_plain : syscost_stub;
  append(site.displaced, site.displaced_bytes);
  append(is_plain ? kLoadR11 : kLoadRcx, sizeof kLoadRcx);
  append(&site.return_address, sizeof site.return_address);
  append(kJumpToNext8, sizeof kJumpToNext8);
  append(&stub, sizeof stub);
  trampolines_copy_[used_bytes_ + kTrampolineBytes - 1] = static_cast<unsigned char>(site.displaced_bytes);

  const std::intptr_t distance = trampolines_ + used_bytes_ - (site.displaced + kJumpBytes);
  const auto near = static_cast<std::int32_t>(distance);
  std::array<unsigned char, kJumpBytes> jump = {0xe9};
  std::memcpy(jump.data() + 1, &near, sizeof near);
  used_bytes_ += kTrampolineBytes;
  return jump;
}

const char* Patches::show_trampolines(std::size_t first_byte) {
  for (std::size_t page = first_byte / kPage * kPage; page < used_bytes_; page += kPage) {
    const Replaced done = replace_page(trampolines_ + page, trampolines_copy_.data() + page, nullptr, {});
    if (done.why_not != nullptr) return done.why_not;
  }
  return nullptr;
}

Patches::PatchedPage& Patches::page_of(const Site& site) {
  unsigned char* const start = page_start(site.displaced);
  for (PatchedPage& page : pages_) {
    if (page.start == start) return page;
  }
  PatchedPage& fresh = pages_.emplace_back();
  fresh.start = start;
  std::copy_n(start, kPage, fresh.original.begin());
  return fresh;
}

std::string Patches::patch_trapped() {
  std::vector<Site> proven;
  for (std::uint64_t& place : syscost_state.sites) {
    std::atomic_ref entry(place);
    const std::uint64_t address = entry.load(std::memory_order_relaxed);
    if (address == 0 || (address & signal_safe::kAsked) != 0) continue;
    // Asked once: a site that cannot be proven is trapped for ever.
    entry.store(address | signal_safe::kAsked);
    const std::optional<Site> site = prove_site(reinterpret_cast<const unsigned char*>(address));
    const bool has_room = used_bytes_ / kTrampolineBytes + proven.size() < kMostPatches;
    if (site.has_value() && has_room) proven.push_back(*site);
  }
  if (proven.empty()) return {};
  if (trampolines_ == nullptr) {
    if (std::string why_not = reserve_trampolines(); !why_not.empty()) return why_not;
  }
  std::sort(proven.begin(), proven.end(), [](const Site& a, const Site& b) { return a.displaced < b.displaced; });

  const std::size_t first_byte = used_bytes_;
  std::vector<std::array<unsigned char, kJumpBytes>> jumps;
  for (const Site& site : proven) jumps.push_back(add_trampoline(site));
  if (const char* why_not = show_trampolines(first_byte); why_not != nullptr) {
    used_bytes_ = first_byte;
    if (first_byte == 0) {
      syscost_state.trampolines_bytes = 0;
      munmap(std::exchange(trampolines_, nullptr), kTrampolinesBytes);
    }
    return why_not;
  }
  const LibcFile file;
  for (std::size_t i = 0; i < proven.size();) {
    PatchedPage& page = page_of(proven[i]);
    std::array<unsigned char, kPage> content;
    std::copy_n(page.start, kPage, content.begin());
    const std::size_t first = i;
    for (; i < proven.size() && page_start(proven[i].displaced) == page.start; ++i) {
      std::copy_n(jumps[i].begin(), kJumpBytes, content.begin() + (proven[i].displaced - page.start));
    }
    const Replaced done = replace_page(page.start, content.data(), page.original.data(), file.at(page.start));
    if (done.why_not != nullptr) return done.why_not;
    page.is_of_file = done.is_of_file;
    page.sites.insert(page.sites.end(), proven.begin() + static_cast<std::ptrdiff_t>(first),
                      proven.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

void Patches::undo() {
  // A filter of the program may kill it for what follows.
  if (pages_.empty() || syscost_state.has_filter) return;
  const LibcFile file;
  for (const PatchedPage& page : pages_) {
    if (page.sites.empty() || (page.is_of_file && forget_changes(page.start))) continue;
    std::array<unsigned char, kPage> content;
    std::copy_n(page.start, kPage, content.begin());
    for (const Site& site : page.sites) {
      const auto at = site.displaced - page.start;
      std::copy_n(page.original.begin() + at, kJumpBytes, content.begin() + at);
    }
    replace_page(page.start, content.data(), page.original.data(), file.at(page.start));
  }
  pages_.clear();
  for (std::uint64_t& place : syscost_state.sites) std::atomic_ref(place).store(0);
}

}  // namespace syscost::dispatch
