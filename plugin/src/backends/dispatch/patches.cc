// SPDX-License-Identifier: MIT
#include "backends/dispatch/patches.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "backends/dispatch/tracer.h"
#include "signal_safe/raw.h"
#include "signal_safe/state.h"

namespace syscost::dispatch {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kTrampolineBytes = 48;
constexpr std::size_t kTrampolinesBytes = 16 * kPage;
constexpr std::size_t kMostPatches = kTrampolinesBytes / kTrampolineBytes;
constexpr std::intptr_t kReach = std::intptr_t{1} << 30;  // half of what a near jump can, for room on both sides
constexpr long kSyncCore = 1 << 5;                        // MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE
constexpr long kRegisterSyncCore = 1 << 6;

long protect(const void* address, std::size_t bytes, int protection) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address) & ~(kPage - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;
  return syscost_raw_syscall(SYS_mprotect, static_cast<long>(begin), static_cast<long>(end - begin), protection);
}

/// Every processor forgets what it has fetched of our code.
void let_all_processors_know() {
  syscost_raw_syscall(SYS_membarrier, kSyncCore, 0, 0);
}

/// Keeps every signal away: a handler that came to the place being changed would wait for us for ever.
class SignalsAway {
 public:
  SignalsAway() {
    const std::uint64_t all = ~std::uint64_t{0};
    syscost_raw_syscall(SYS_rt_sigprocmask, kSetMask, reinterpret_cast<long>(&all), reinterpret_cast<long>(&before_),
                        sizeof all);
  }
  ~SignalsAway() {
    syscost_raw_syscall(SYS_rt_sigprocmask, kSetMask, reinterpret_cast<long>(&before_), 0, sizeof before_);
  }
  SignalsAway(const SignalsAway&) = delete;
  SignalsAway& operator=(const SignalsAway&) = delete;

 private:
  static constexpr long kSetMask = 2;
  std::uint64_t before_ = 0;
};

/// Changes five bytes of running code. The page is writable.
void change_code(unsigned char* at, const std::array<unsigned char, kJumpBytes>& bytes) {
  auto store_first_two = [at](unsigned char first, unsigned char second) {
    const auto both = static_cast<std::uint16_t>(first | second << 8);
    // One store; within a cache line it is seen whole.
    asm volatile("movw %1, %0" : "=m"(*reinterpret_cast<std::uint16_t*>(at)) : "r"(both) : "memory");
  };
  constexpr unsigned char kJumpShort = 0xeb;
  constexpr unsigned char kToItself = 0xfe;
  store_first_two(kJumpShort, kToItself);
  let_all_processors_know();
  for (std::size_t i = 2; i < kJumpBytes; ++i) std::atomic_ref(at[i]).store(bytes[i]);
  let_all_processors_know();
  store_first_two(bytes[0], bytes[1]);
  let_all_processors_know();
}

bool is_under_sanitizer() {
  constexpr const char* kRuntimes[] = {"__asan_init", "__tsan_init", "__lsan_init", "__msan_init", "__hwasan_init"};
  return std::any_of(std::begin(kRuntimes), std::end(kRuntimes),
                     [](const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; });
}

bool has_shadow_stack() {
  constexpr long kStatus = 0x5005;  // ARCH_SHSTK_STATUS
  std::uint64_t features = 0;
  return syscost_raw_syscall(SYS_arch_prctl, kStatus, reinterpret_cast<long>(&features)) == 0 && (features & 1) != 0;
}

/// True when the site always makes the same call, and it needs no care.
bool makes_plain_call(const Site& site) {
  constexpr unsigned char kMovToEax = 0xb8;
  std::uint32_t number = 0;
  if (site.displaced[0] != kMovToEax || site.displaced_bytes != kJumpBytes) return false;
  std::memcpy(&number, site.displaced + 1, sizeof number);
  return number < sizeof syscost_is_special && syscost_is_special[number] == 0;
}

}  // namespace

std::string Patches::obstacle() {
  if (is_under_sanitizer()) return "a sanitizer watches this program";
  if (tracer() != 0) return "a debugger or tracer is attached";
  if (has_shadow_stack()) return "the program runs with a shadow stack";
  if (libc_text().begin == nullptr) return "libc is linked statically";
  if (syscost_raw_syscall(SYS_membarrier, kRegisterSyncCore, 0, 0) != 0) {
    return "the kernel has no membarrier that reaches all processors' instruction fetch";
  }
  return {};
}

std::string Patches::map_trampolines() {
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
                          PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (mapped != MAP_FAILED) {
        trampolines_ = static_cast<unsigned char*>(mapped);
        break;
      }
    }
    gap = static_cast<std::intptr_t>(end);
  }
  if (trampolines_ == nullptr) return "there is no room for jumps near libc";
  if (protect(trampolines_, kTrampolinesBytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    munmap(trampolines_, kTrampolinesBytes);
    trampolines_ = nullptr;
    return "memory may not be writable and executable here";
  }
  return {};
}

const char* Patches::patch(const Site& site) {
  unsigned char* start = trampolines_ + used_bytes_;
  unsigned char* at = start;
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

  Done done{site, {}};
  std::copy_n(site.displaced, kJumpBytes, done.before.begin());
  const std::intptr_t distance = start - (site.displaced + kJumpBytes);
  const auto near = static_cast<std::int32_t>(distance);
  std::array<unsigned char, kJumpBytes> jump = {0xe9};
  std::memcpy(jump.data() + 1, &near, sizeof near);
  if (protect(site.displaced, kJumpBytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return "libc's text may not be written here";
  }
  used_bytes_ += kTrampolineBytes;
  change_code(site.displaced, jump);
  protect(site.displaced, kJumpBytes, PROT_READ | PROT_EXEC);
  done_.push_back(done);
  return nullptr;
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
    if (site.has_value() && proven.size() + done_.size() < kMostPatches) proven.push_back(*site);
  }
  if (proven.empty()) return {};
  if (trampolines_ == nullptr) {
    if (std::string why_not = map_trampolines(); !why_not.empty()) return why_not;
  }
  done_.reserve(done_.size() + proven.size());

  // From here on nothing of libc that could be among the sites.
  const SignalsAway signals_away;
  const char* why_not = nullptr;
  protect(trampolines_, kTrampolinesBytes, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (const Site& site : proven) {
    if (why_not == nullptr) why_not = patch(site);
  }
  protect(trampolines_, kTrampolinesBytes, PROT_READ | PROT_EXEC);
  return why_not != nullptr ? why_not : "";
}

void Patches::undo() {
  if (done_.empty()) return;
  const SignalsAway signals_away;
  for (const Done& done : done_) {
    if (protect(done.site.displaced, kJumpBytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) continue;
    change_code(done.site.displaced, done.before);
    protect(done.site.displaced, kJumpBytes, PROT_READ | PROT_EXEC);
  }
  done_.clear();
  for (std::uint64_t& place : syscost_state.sites) std::atomic_ref(place).store(0);
}

}  // namespace syscost::dispatch
