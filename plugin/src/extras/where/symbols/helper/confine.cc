// SPDX-License-Identifier: MIT
#include "extras/where/symbols/helper/confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace syscost::symbols {
namespace {

/// The largest debug information is mapped, not allocated. The allocations for it are some hundred bytes a function.
constexpr rlim_t kMostAllocated = rlim_t{8} << 30;
constexpr rlim_t kMostProcessorSeconds = 600;

[[maybe_unused]] void set_limit(decltype(RLIMIT_CORE) which, rlim_t value) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0 || limit.rlim_max < value) return;
  limit = {.rlim_cur = value, .rlim_max = value};
  setrlimit(which, &limit);
}

/// A test may have lowered its own limits, which this process has from it.
[[maybe_unused]] void raise_limits() {
  constexpr rlim_t kOpenFiles = 4096;
  for (const auto which : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE}) {
    rlimit limit{};
    if (getrlimit(which, &limit) != 0) continue;
    limit.rlim_cur = which == RLIMIT_NOFILE ? std::min(limit.rlim_max, kOpenFiles) : limit.rlim_max;
    setrlimit(which, &limit);
  }
}

/// Keeps the one capability that opens files of others for reading.
[[maybe_unused]] bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return false;
  for (__user_cap_data_struct& set : sets) {
    const bool is_first = &set == sets.data();
    const std::uint32_t kept = is_first ? set.permitted & (1U << CAP_DAC_READ_SEARCH) : 0;
    set = {.effective = kept, .permitted = kept, .inheritable = 0};
  }
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return false;
  return syscall(SYS_capset, &header, sets.data()) == 0;
}

constexpr std::uint32_t kDenied = SECCOMP_RET_ERRNO | EPERM;

/// Lets calls through by their numbers, opens for reading only, and no others.
[[maybe_unused]] Result<void> filter_calls() {
#ifdef __x86_64__
  const auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  const auto answer = [](std::uint32_t with) { return sock_filter BPF_STMT(BPF_RET | BPF_K, with); };
  std::vector<sock_filter> program{
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
  };
  for (const long number : std::initializer_list<long>{
           SYS_read,           SYS_pread64,       SYS_readv,        SYS_preadv,     SYS_close,     SYS_lseek,
           SYS_fstat,          SYS_stat,          SYS_lstat,        SYS_newfstatat, SYS_statx,     SYS_access,
           SYS_faccessat,      SYS_faccessat2,    SYS_readlink,     SYS_readlinkat, SYS_getcwd,    SYS_mmap,
           SYS_munmap,         SYS_mremap,        SYS_mprotect,     SYS_madvise,    SYS_brk,       SYS_futex,
           SYS_getrandom,      SYS_clock_gettime, SYS_gettimeofday, SYS_getpid,     SYS_gettid,    SYS_rt_sigaction,
           SYS_rt_sigprocmask, SYS_rt_sigreturn,  SYS_getdents64,   SYS_fadvise64,  SYS_sendto,    SYS_recvfrom,
           SYS_fcntl,          SYS_sysinfo,       SYS_sched_yield,  SYS_alarm,      SYS_setitimer, SYS_exit,
           SYS_exit_group}) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  }
  // Any other way of opening than O_RDONLY is denied: it would write, create or truncate.
  constexpr std::uint32_t kWrites = O_ACCMODE | O_CREAT | O_TRUNC;
  for (const auto& [number, flags_at] : {std::pair<long, std::size_t>{SYS_open, offsetof(seccomp_data, args[1])},
                                         {SYS_openat, offsetof(seccomp_data, args[2])}}) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 4));
    program.push_back(load(flags_at));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kWrites, 0, 1));
    program.push_back(answer(kDenied));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  }
  program.push_back(answer(kDenied));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0 && errno != EINVAL && errno != ENOSYS) {
    return errno_failure("set", "a seccomp filter for syscost-symbols", errno);
  }
#endif
  return {};
}

}  // namespace

Result<void> confine_to_reading() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return {};  // a sanitizer needs more memory and other calls
#else
  raise_limits();
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
  set_limit(RLIMIT_NPROC, 0);
  set_limit(RLIMIT_DATA, kMostAllocated);
  set_limit(RLIMIT_CPU, kMostProcessorSeconds);
  // Others of this user must not read its memory through ptrace or /proc while it has a capability that they lack.
  prctl(PR_SET_DUMPABLE, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !drop_capabilities()) {
    return errno_failure("drop", "the capabilities of syscost-symbols", errno);
  }
  return filter_calls();
#endif
}

}  // namespace syscost::symbols
