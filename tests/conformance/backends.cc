// SPDX-License-Identifier: MIT
#include "backends.h"

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

}  // namespace

const std::vector<BackendColumn>& backends() {
  static const std::vector<BackendColumn> columns = {
      {.name = "oracle",
       .opens_scopes = false,
       .knows_calls = false,
       .knows_errors = false,
       .knows_denied = false,
       .knows_latency = false,
       .missing = {}},
      {.name = "ebpf", .missing = ebpf_missing()},
      {.name = "seccomp",
       .knows_calls = false,
       .knows_errors = false,
       .knows_latency = false,
       .misses_restarted = true,
       .blind_to = "rt_sigreturn",
       .missing = {}},
  };
  return columns;
}

}  // namespace conformance
