// SPDX-License-Identifier: MIT
#include "backends.h"

#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

namespace conformance {
namespace {

constexpr unsigned kCapSysAdmin = 21;
constexpr unsigned kCapPerfmon = 38;
constexpr unsigned kCapBpf = 39;

std::uint64_t effective_capabilities() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("CapEff:", 0) == 0) return std::strtoull(line.c_str() + 7, nullptr, 16);
  }
  return 0;
}

// Looks at the stated needs, not at whether the backend works: a backend that fails where its needs are met must fail
// the suite, not be skipped by it.
std::string ebpf_missing() {
  std::uint64_t effective = effective_capabilities();
  auto has = [effective](unsigned capability) { return (effective >> capability & 1) != 0; };
  if (!has(kCapSysAdmin) && !(has(kCapBpf) && has(kCapPerfmon))) {
    return "needs CAP_BPF and CAP_PERFMON; run the suite as root or with both as ambient capabilities (setpriv)";
  }
  struct stat file = {};
  if (stat("/sys/kernel/btf/vmlinux", &file) != 0) {
    return "the kernel has no BTF (/sys/kernel/btf/vmlinux); run one built with CONFIG_DEBUG_INFO_BTF";
  }
  return {};
}

// The dispatch backends use this clock for times. Without it they have no times, and say so. Emulated processors lack
// it.
bool ticks_evenly() {
  constexpr unsigned kAdvancedPower = 0x80000007;
  constexpr unsigned kInvariantTsc = 1U << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kAdvancedPower, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
}

std::string dispatch_missing() {
  constexpr unsigned long kHasFsgsbase = 2;  // HWCAP2_FSGSBASE
  if ((getauxval(AT_HWCAP2) & kHasFsgsbase) == 0) {
    return "needs the FSGSBASE instructions; run on Linux >= 5.9 and a processor of 2012 or later";
  }
  return syscall_user_dispatch_missing();
}

BackendColumn of_dispatch(BackendColumn column) {
  column.knows_entries = false;
  column.knows_denied = false;
  column.knows_latency = ticks_evenly();
  column.knows_i386_lengths = false;
  column.keeps_stacks = true;
  column.missing = dispatch_missing();
  return column;
}

}  // namespace

std::string syscall_user_dispatch_missing() {
  // A kernel with this option accepts these arguments; one without it refuses all.
  constexpr int kSetDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
  if (prctl(kSetDispatch, 0, 0, 0, 0) != 0) return "the kernel has no Syscall User Dispatch; run Linux >= 5.11";
  return {};
}

const std::vector<BackendColumn>& backends() {
  static const std::vector<BackendColumn> columns = {
      {.name = "oracle",
       .opens_scopes = false,
       .knows_calls = false,
       .knows_errors = false,
       .knows_denied = false,
       .knows_latency = false,
       .knows_bytes = false,
       .missing = {}},
      {.name = "ebpf", .missing = ebpf_missing()},
      of_dispatch({.name = "dispatch", .missing = {}}),
      of_dispatch({.name = "dispatch-trap", .missing = {}}),
      {.name = "seccomp",
       .knows_calls = false,
       .knows_errors = false,
       .knows_denied = false,
       .knows_latency = false,
       .knows_bytes = false,
       .misses_restarted = true,
       .blind_to = "rt_sigreturn",
       .missing = {}},
  };
  return columns;
}

}  // namespace conformance
