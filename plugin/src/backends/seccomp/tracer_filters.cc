// SPDX-License-Identifier: MIT
#include "backends/seccomp/tracer_filters.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "backends/seccomp/supervisor.h"
#include "core/syscall_id.h"

namespace syscost::seccomp {
namespace {

bool read_memory(std::int32_t thread, std::uint64_t address, void* into, std::size_t bytes) {
  const iovec room{into, bytes};
  const iovec memory{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr): of another process
  return syscall(SYS_process_vm_readv, thread, &room, 1, &memory, 1, 0) == static_cast<long>(bytes);
}

/// Where the call's struct sock_fprog is; 0 if it installs no filter.
std::uint64_t filter_of(SyscallId id, const Notification& call) {
  constexpr std::uint32_t kPrctl32 = 172;
  constexpr std::uint32_t kSeccomp32 = 354;
  const bool is_32 = id.abi == Abi::i386;
  const auto first = static_cast<std::uint32_t>(call.arguments[0]);
  if (id.number == (is_32 ? kSeccomp32 : SYS_seccomp)) {
    return first == SECCOMP_SET_MODE_FILTER ? call.arguments[2] : 0;
  }
  const bool sets_filter = id.number == (is_32 ? kPrctl32 : SYS_prctl) && first == PR_SET_SECCOMP &&
                           call.arguments[1] == SECCOMP_MODE_FILTER;
  return sets_filter ? call.arguments[2] : 0;
}

/// The filter's length, and where its instructions are. False if that cannot be read.
bool read_head(bool is_32, std::int32_t thread, std::uint64_t at, std::size_t& length, std::uint64_t& instructions) {
  struct Head32 {
    std::uint16_t length;
    std::uint32_t instructions;
  } head32{};
  struct Head64 {
    std::uint16_t length;
    std::uint64_t instructions;
  } head64{};
  if (is_32 ? !read_memory(thread, at, &head32, sizeof head32) : !read_memory(thread, at, &head64, sizeof head64)) {
    return false;
  }
  length = is_32 ? head32.length : head64.length;
  instructions = is_32 ? head32.instructions : head64.instructions;
  return length <= BPF_MAXINSNS;
}

bool asks_tracer(const sock_filter& one) {
  return BPF_CLASS(one.code) == BPF_RET && BPF_RVAL(one.code) == BPF_K &&
         (one.k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE;
}

}  // namespace

bool installs_tracer_filter(const Notification& call) {
  const SyscallId id = syscall_id_of(call.arch, call.number);
  const std::uint64_t filter = filter_of(id, call);
  std::size_t length = 0;
  std::uint64_t instructions = 0;
  if (filter == 0 || !read_head(id.abi == Abi::i386, call.thread, filter, length, instructions)) return false;
  std::array<sock_filter, 256> part;  // NOLINT(cppcoreguidelines-pro-type-member-init): what is read
  for (std::size_t begin = 0; begin < length; begin += part.size()) {
    const std::size_t count = std::min(part.size(), length - begin);
    if (!read_memory(call.thread, instructions + begin * sizeof part[0], part.data(), count * sizeof part[0])) {
      return false;
    }
    if (std::any_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count), asks_tracer)) return true;
  }
  return false;
}

}  // namespace syscost::seccomp
