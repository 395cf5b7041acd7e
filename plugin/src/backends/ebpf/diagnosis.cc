// SPDX-License-Identifier: MIT
#include "backends/ebpf/diagnosis.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>

namespace syscost::ebpf {
namespace {

constexpr const char* kGrant =
    "run as root, or grant them to the test binary: sudo setcap cap_bpf,cap_perfmon+ep BINARY (again after each link); "
    "in a container add cap_add: [BPF, PERFMON]; or measure nothing with --syscost_backend none";

std::uint64_t effective_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) return 0;
  return data[0].effective | std::uint64_t{data[1].effective} << 32;
}

/// True unless we are in the initial user namespace: capabilities then mean nothing to bpf(2).
bool in_user_namespace() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0, outside = 0, count = 0;
  return map >> inside >> outside >> count && !(inside == 0 && outside == 0 && count == 4294967295U);
}

bool kernel_is_older_than(int major, int minor, std::string& release) {
  utsname name{};
  if (uname(&name) != 0) return false;
  release = name.release;
  int have_major = 0, have_minor = 0;
  if (std::sscanf(name.release, "%d.%d", &have_major, &have_minor) != 2) return false;
  return have_major < major || (have_major == major && have_minor < minor);
}

}  // namespace

std::string missing_capabilities() {
  std::uint64_t have = effective_capabilities();
  auto has = [&](int capability) { return (have >> capability & 1) != 0 || (have >> CAP_SYS_ADMIN & 1) != 0; };
  bool bpf = has(CAP_BPF);
  bool perfmon = has(CAP_PERFMON);
  if (!bpf && !perfmon) return "CAP_BPF and CAP_PERFMON";
  if (!bpf) return "CAP_BPF";
  if (!perfmon) return "CAP_PERFMON";
  return {};
}

Failure explain_failure(std::string_view step, int error, std::string_view libbpf_log) {
  std::string release;
  if (kernel_is_older_than(5, 13, release)) {
    return {"kernel " + release + " is older than 5.13, the first with task storage for tracing programs",
            "use a newer kernel"};
  }
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return {"the kernel shows no type information (/sys/kernel/btf/vmlinux is missing or not readable)",
            "use a kernel built with CONFIG_DEBUG_INFO_BTF, and mount /sys"};
  }
  std::string missing = missing_capabilities();
  if ((error == EPERM || error == EACCES) && !missing.empty()) {
    return {"eBPF needs CAP_BPF and CAP_PERFMON; this process lacks " + missing, kGrant};
  }
  Failure failure = errno_failure(step, "eBPF", error);
  if (error == EPERM && in_user_namespace()) {
    return {failure.reason + "; the capabilities hold inside this user namespace only",
            "grant CAP_BPF and CAP_PERFMON in the initial user namespace (rootful container, or setcap on the host)"};
  }
  if (error == EPERM) {
    return {failure.reason + "; the capabilities are there, so a security module or a seccomp profile denies bpf(2)",
            "allow bpf in the container's seccomp profile, and look at the kernel's lockdown mode"};
  }
  if (!libbpf_log.empty()) failure.reason += " (" + std::string(libbpf_log) + ")";
  return failure;
}

}  // namespace syscost::ebpf
