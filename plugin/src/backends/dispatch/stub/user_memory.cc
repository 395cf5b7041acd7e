// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/user_memory.h"

#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "core/tables/byte_sources.h"
#include "extras/trace/stub/trace.h"

namespace syscost::signal_safe {
namespace {

bool by_kernel = false;

constexpr std::uint64_t kPageMask = ~std::uint64_t{4095};

/// The page that our own caller's frame is on: it stays while we run.
bool is_on_own_page(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t page = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) & kPageMask;
  return (address & kPageMask) == page && ((address + bytes - 1) & kPageMask) == page;
}

/// Any thread stands for its process; the first one may have ended.
long own_id() {
  const auto* thread = static_cast<const Thread*>(gs_base());
  const bool is_record = thread >= syscost_threads && thread < syscost_threads + kThreads;
  const std::uint32_t id = is_record ? std::atomic_ref(const_cast<std::uint32_t&>(thread->id)).load() : 0;
  return id != 0 ? static_cast<long>(id) : syscost_raw_syscall(SYS_gettid);
}

/// By process_vm_writev the kernel reads `users` as it reads an argument; by process_vm_readv it writes there so. Ours
/// is the other process's side, which it looks up page by page. Returns the bytes copied, or -errno.
long copy_by_kernel(long number, std::uint64_t users, std::uint64_t ours, std::uint64_t bytes) {
  const Stretch local{users, bytes};
  const Stretch remote{ours, bytes};
  return syscost_raw_syscall(number, own_id(), reinterpret_cast<long>(&local), 1, reinterpret_cast<long>(&remote), 1,
                             0);
}

enum class Copied { all, fault, not_by_kernel };

Copied try_by_kernel(long number, std::uint64_t users, std::uint64_t ours, std::uint64_t bytes) {
  const Copying copying;
  if (!std::atomic_ref(by_kernel).load() || std::atomic_ref(syscost_string_copies.may_be_filtered).load()) {
    return Copied::not_by_kernel;
  }
  const long copied = copy_by_kernel(number, users, ours, bytes);
  if (copied == static_cast<long>(bytes)) return Copied::all;
  if (copied < 0 && copied != -EFAULT) return Copied::not_by_kernel;
  // Ours may be a stack that the kernel cannot look up so (memfd_secret).
  std::uint64_t probe = 0;
  const long tried = copy_by_kernel(number, reinterpret_cast<std::uint64_t>(&probe), ours, 1);
  return tried == 1 ? Copied::fault : Copied::not_by_kernel;
}

bool can_be(std::uint64_t address, std::uint64_t bytes) {
  return address >= 0x1'0000 && bytes < (1ULL << 47) && address < (1ULL << 47) - bytes;
}

/// is_readable() of each page.
bool is_readable_whole(std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kWord = 8;
  const std::uint64_t last = (address + bytes - 1) & ~(kWord - 1);
  for (std::uint64_t at = address & ~(kWord - 1); at < last; at = (at & kPageMask) + ~kPageMask + 1) {
    if (!is_readable(at, kWord)) return false;
  }
  return is_readable(last, kWord);
}

}  // namespace

void may_copy_by_kernel(bool may) {
  std::atomic_ref(by_kernel).store(may);
}

bool copy_in(void* to, std::uint64_t from, std::uint64_t bytes, bool by_kernel_alone) {
  const auto ours = reinterpret_cast<std::uint64_t>(to);
  if (bytes == 0) return true;
  if (!can_be(from, bytes)) return false;
  if (!is_on_own_page(from, bytes)) {
    const Copied copied = try_by_kernel(SYS_process_vm_writev, from, ours, bytes);
    if (copied != Copied::not_by_kernel) return copied == Copied::all;
    if (by_kernel_alone || !is_readable_whole(from, bytes)) return false;
  }
  copy_bytes(ours, from, bytes);
  return true;
}

bool copy_out(std::uint64_t to, const void* from, std::uint64_t bytes) {
  const auto ours = reinterpret_cast<std::uint64_t>(from);
  if (bytes == 0) return true;
  if (!can_be(to, bytes)) return false;
  if (!is_on_own_page(to, bytes)) {
    const Copied copied = try_by_kernel(SYS_process_vm_readv, to, ours, bytes);
    if (copied != Copied::not_by_kernel) return copied == Copied::all;
    if (!is_readable_whole(to, bytes)) return false;
  }
  copy_bytes(to, ours, bytes);
  return true;
}

bool may_name_kernel_file(std::uint64_t path) {
  constexpr std::uint64_t kBytes = 6;  // of "/proc/"
  char text[kBytes] = {};
  // A path may end with the mapped memory: first up to the end of its page.
  const std::uint64_t in_page = ~kPageMask + 1 - (path & ~kPageMask);
  const std::uint64_t first = in_page < kBytes ? in_page : kBytes;
  if (!copy_in(text, path, first, true)) return true;
  bool has_ended = first == kBytes;
  for (std::uint64_t i = 0; i < first; ++i) has_ended = has_ended || text[i] == '\0';
  if (!has_ended && !copy_in(text + first, path + first, kBytes - first, true)) return true;
  return SYSCOST_NAMES_KERNEL_FILE(text);
}

namespace {

/// The first number of "24203 1707 1552 59 0 21838 0\n" (proc_pid_statm(5)): all mapped pages. 0: the text is not of
/// this kind, so the descriptor is another file.
std::uint64_t mapped_in(const char* text, long length) {
  constexpr int kFields = 7;
  std::uint64_t fields[kFields] = {};
  int field = 0;
  bool has_digit = false;
  for (long i = 0; i < length; ++i) {
    const char one = text[i];
    const bool is_last = field == kFields - 1;
    if (one >= '0' && one <= '9') {
      fields[field] = fields[field] * 10 + static_cast<std::uint64_t>(one - '0');
      has_digit = true;
    } else if (has_digit && one == ' ' && !is_last) {
      ++field;
      has_digit = false;
    } else if (has_digit && one == '\n' && is_last) {
      // The fifth and the last one are always 0. No more can be resident than is mapped.
      return i + 1 == length && fields[4] == 0 && fields[6] == 0 && fields[0] >= fields[1] ? fields[0] : 0;
    } else {
      return 0;
    }
  }
  return 0;
}

}  // namespace

void note_mapped_pages() {
  constexpr long kRoom = 160;  // seven numbers of at most 20 digits
  char text[kRoom];
  std::uint64_t pages = 0;
  {
    const Copying calling;
    // Read after the announcement.
    if (const int statm = std::atomic_ref(syscost_most_mapped.statm).load(); statm >= 0) {
      const long length = syscost_raw_syscall(SYS_pread64, statm, reinterpret_cast<long>(text), kRoom, 0);
      pages = mapped_in(text, length);
    }
  }
  if (pages == 0) {
    std::atomic_ref(syscost_most_mapped.unknown).fetch_add(1);
    return;
  }
  std::atomic_ref most(syscost_most_mapped.most_pages);
  std::uint64_t before = most.load(std::memory_order_relaxed);
  while (before < pages && !most.compare_exchange_weak(before, pages, std::memory_order_relaxed)) {
  }
}

bool stop_noting_mapped() {
  if (std::atomic_ref(syscost_most_mapped.statm).exchange(-1) < 0) return false;
  std::atomic_ref(syscost_most_mapped.unknown).fetch_add(1);
  return true;
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
syscost::signal_safe::MostMapped syscost_most_mapped{-1, 0, 0};
}
// NOLINTEND(readability-identifier-naming)
