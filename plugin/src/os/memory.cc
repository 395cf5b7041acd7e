// SPDX-License-Identifier: MIT
#include "os/memory.h"

#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>

#include "os/files.h"
#include "os/own_memory.h"
#include "os/spin_lock.h"
#include "os/text.h"

namespace syscost {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{10} << 20;  // the rows of 10 000 scopes need nine
constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// Hands out reserved stretches from front to back and takes nothing of them back; the pool above reuses.
class Reserve final : public std::pmr::memory_resource {
 public:
  bool is_running_low() const { return used_ > reserved_ / 2; }
  bool is_scarce() const { return used_ > reserved_ - reserved_ / 8; }
  bool is_empty() const { return reserved_ == 0; }

  /// Makes `bytes` more available. False, with errno, when they cannot be had.
  bool grow(std::size_t bytes) {
    if (stretch_count_ == stretches_.size()) return false;
    // NORESERVE: address space now, pages when touched.
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    note_own_mapping(start, bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    stretches_[stretch_count_++] = {begin, begin, begin + bytes};
    reserved_ += bytes;
    return true;
  }
  std::size_t next_bytes() const { return std::clamp(reserved_, kFirstBytes, kMostBytes); }

 private:
  struct Stretch {
    std::uintptr_t begin = 0;
    std::uintptr_t free = 0;
    std::uintptr_t end = 0;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    for (std::size_t i = 0; i < stretch_count_; ++i) {
      Stretch& stretch = stretches_[i];
      const std::uintptr_t start = (stretch.free + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
      if (start > stretch.end || bytes > stretch.end - start) continue;
      used_ += start + bytes - stretch.free;
      stretch.free = start + bytes;
      return reinterpret_cast<void*>(start);  // NOLINT(performance-no-int-to-ptr): addresses are what this is about
    }
    used_ += bytes;
    return allocate_aligned(bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t /*alignment*/) override {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    for (std::size_t i = 0; i < stretch_count_; ++i) {
      if (address >= stretches_[i].begin && address < stretches_[i].end) return;
    }
    used_ -= bytes;
    ::operator delete(static_cast<void**>(pointer)[-1]);
  }
  /// From the program's heap by malloc() alone: a program may define aligned_alloc(), which the C++ library would call.
  static void* allocate_aligned(std::size_t bytes, std::size_t alignment) {
    void* const whole = ::operator new(bytes + alignment + sizeof(void*));
    const auto first = reinterpret_cast<std::uintptr_t>(whole) + sizeof(void*);
    const std::uintptr_t aligned = (first + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    auto* const at = reinterpret_cast<void**>(aligned);  // NOLINT(performance-no-int-to-ptr)
    at[-1] = whole;
    return at;
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::array<Stretch, 64> stretches_;
  std::size_t stretch_count_ = 0;
  std::size_t reserved_ = 0;
  std::size_t used_ = 0;
};

/// A pool over the reserve, protected by a lock that does not sleep.
class QuietMemory final : public std::pmr::memory_resource {
 public:
  QuietMemory() { static_cast<void>(top_up()); }

  Result<void> top_up() {
    std::lock_guard guard(lock_);
    if (!reserve_.is_running_low() && !reserve_.is_empty()) return {};
    if (reserve_.grow(fitting_reserve(reserve_.next_bytes(), kLeastBytes)) || reserve_.grow(kLeastBytes) ||
        !reserve_.is_empty())
      return {};
    return errno_failure("reserve", "1 MiB of memory for the counts", errno);
  }
  bool is_scarce() {
    std::lock_guard guard(lock_);
    return reserve_.is_scarce();
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    std::lock_guard guard(lock_);
    return pool_.allocate(bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) override {
    std::lock_guard guard(lock_);
    pool_.deallocate(pointer, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  SpinLock lock_;
  Reserve reserve_;
  // Small chunks: one that does not fit into what is left would come from malloc.
  std::pmr::unsynchronized_pool_resource pool_{{.max_blocks_per_chunk = 32, .largest_required_pool_block = 64 << 10},
                                               &reserve_};
};

QuietMemory& the_memory() {
  // Never destroyed: a Cost may be read by a static destructor.
  static auto* const memory = new QuietMemory;
  return *memory;
}

}  // namespace

std::pmr::memory_resource& quiet_memory() {
  return the_memory();
}

Result<void> top_up_quiet_memory() {
  return the_memory().top_up();
}

bool is_quiet_memory_scarce() {
  return the_memory().is_scarce();
}

namespace {

constexpr std::size_t kLeastMapped = std::size_t{64} << 10;
constexpr std::size_t kPage = 4096;
/// A large block that could not be mapped begins so far after a multiple of kSpare: never at a page's begin.
constexpr std::size_t kSpare = 32;
constexpr std::size_t kAfterSpare = 16;
static_assert(kAfterSpare % alignof(std::max_align_t) == 0);

class MappedMemory final : public std::pmr::memory_resource {
 private:
  static bool is_large(std::size_t bytes, std::size_t alignment) {
    return bytes >= kLeastMapped && alignment <= kAfterSpare;
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (!is_large(bytes, alignment)) return quiet_memory().allocate(bytes, alignment);
    void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start != MAP_FAILED) return start;
    return static_cast<std::byte*>(quiet_memory().allocate(bytes + kSpare, kSpare)) + kAfterSpare;
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) override {
    if (!is_large(bytes, alignment)) return quiet_memory().deallocate(pointer, bytes, alignment);
    if (reinterpret_cast<std::uintptr_t>(pointer) % kPage == 0) {
      munmap(pointer, bytes);
    } else {
      quiet_memory().deallocate(static_cast<std::byte*>(pointer) - kAfterSpare, bytes + kSpare, kSpare);
    }
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

std::pmr::memory_resource& mapped_memory() {
  // Never destroyed: rows are written while the process ends.
  static auto* const memory = new MappedMemory;
  return *memory;
}

namespace {

constexpr std::size_t kShare = 10;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? kNoLimit : limit.rlim_cur;
}

bool is_limited() {
  return limit_of(RLIMIT_AS) != kNoLimit || limit_of(RLIMIT_DATA) != kNoLimit;
}

/// In bytes; 0 if that cannot be read.
std::uint64_t room() {
  std::array<char, 256> text{};
  const Descriptor file = open_regular("/proc/self/statm");
  if (!file.is_open() || read(file.number(), text.data(), text.size() - 1) <= 0) return 0;
  // Pages, by proc_pid_statm(5): of the address space, 4 others, and of data with stack.
  std::array<std::uint64_t, 6> pages{};
  const char* at = text.data();
  for (std::uint64_t& one : pages) {
    char* end = nullptr;
    one = std::strtoull(at, &end, 10);
    if (end == at) return 0;
    at = end;
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto left = [&](std::uint64_t limit, std::uint64_t used) {
    return limit == kNoLimit ? kNoLimit : limit - std::min(limit, used * page);
  };
  return std::min(left(limit_of(RLIMIT_AS), pages[0]), left(limit_of(RLIMIT_DATA), pages[5]));
}

/// The stack size of a thread that the program starts without a word about it.
std::size_t usual_stack_bytes() {
  pthread_attr_t usual;
  if (pthread_getattr_default_np(&usual) != 0) return 0;
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&usual, &bytes);
  pthread_attr_destroy(&usual);
  return bytes;
}

}  // namespace

std::size_t fitting_reserve(std::size_t wanted, std::size_t least) {
  return !is_limited() || wanted <= room() / kShare ? wanted : least;
}

bool is_no_room_for_thread_because_of_us() {
  if (!is_limited()) return false;
  const std::size_t bytes = usual_stack_bytes();
  void* const stack = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack != MAP_FAILED) {
    munmap(stack, bytes);
    return false;
  }
  note_own_libraries();
  MemorySizes sizes;
  const auto by_libc = [](long number, long a, long b, long c, long d, long e, long f) {
    const long result = syscall(number, a, b, c, d, e, f);
    return result == -1 ? -static_cast<long>(errno) : result;
  };
  return !measure_memory(by_libc, sizes) || room() + sizes.ours >= bytes;
}

namespace {

long by_libc(long number, long a, long b, long c, long d, long e, long f) {
  const long result = syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
}

bool has_cap_ipc_lock() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  return by_libc(SYS_capget, reinterpret_cast<long>(&header), reinterpret_cast<long>(data), 0, 0, 0, 0) == 0 &&
         (data[0].effective >> CAP_IPC_LOCK & 1U) != 0;
}

std::string mebibytes(std::uint64_t bytes) {
  return decimal_text(static_cast<double>(bytes) / (1U << 20), 1) + " MiB";
}

int note_library(dl_phdr_info* library, std::size_t /*size*/, void* /*none*/) {
  const char* const slash = std::strrchr(library->dlpi_name, '/');
  const char* const name = slash == nullptr ? library->dlpi_name : slash + 1;
  if (std::strncmp(name, "libsyscost", 10) != 0) return 0;
  std::uintptr_t end = 0;
  for (unsigned i = 0; i < library->dlpi_phnum; ++i) {
    if (library->dlpi_phdr[i].p_type == PT_LOAD)
      end = std::max<std::uintptr_t>(end, library->dlpi_phdr[i].p_vaddr + library->dlpi_phdr[i].p_memsz);
  }
  note_own_mapping(reinterpret_cast<const void*>(library->dlpi_addr), end);  // NOLINT(performance-no-int-to-ptr)
  return 0;
}

}  // namespace

void note_own_libraries() {
  static std::atomic<bool> are_noted{false};
  if (!are_noted.exchange(true)) dl_iterate_phdr(note_library, nullptr);
}

std::optional<Failure> what_denies_mlockall() {
  if (has_cap_ipc_lock()) return std::nullopt;
  note_own_libraries();
  MemorySizes sizes;
  if (!measure_memory(by_libc, sizes) || sizes.of_program > sizes.limit ||
      sizes.of_program + sizes.ours <= sizes.limit) {
    return std::nullopt;
  }
  return Failure{"mlockall() failed because of syscost's memory: the program has " + mebibytes(sizes.of_program) +
                     ", syscost " + mebibytes(sizes.ours) + ", and RLIMIT_MEMLOCK allows " + mebibytes(sizes.limit),
                 "measure this program with dispatch, which leaves its own memory out, or run it with a higher limit "
                 "(`ulimit -l`)"};
}

}  // namespace syscost
