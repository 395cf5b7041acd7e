// SPDX-License-Identifier: MIT
#include "os/own_mappings.h"

#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "os/decimal_text.h"
#include "os/own_memory.h"

namespace syscost {
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

std::optional<Failure> what_forbids_mlockall() {
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
