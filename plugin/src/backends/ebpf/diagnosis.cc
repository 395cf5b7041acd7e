// SPDX-License-Identifier: MIT
#include "backends/ebpf/diagnosis.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "backends/ebpf/permission.h"

namespace syscost::ebpf {
namespace {

bool kernel_is_older_than(int major, int minor, std::string& release) {
  utsname name{};
  if (uname(&name) != 0) return false;
  release = name.release;
  int have_major = 0, have_minor = 0;
  if (std::sscanf(name.release, "%d.%d", &have_major, &have_minor) != 2) return false;
  return have_major < major || (have_major == major && have_minor < minor);
}

}  // namespace

Failure explain_failure(std::string_view step, int error, const LibbpfWords& said) {
  std::string release;
  if (kernel_is_older_than(5, 13, release)) {
    return {"kernel " + release + " is older than 5.13, the first with task storage for tracing programs",
            "use a newer kernel"};
  }
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return {"the kernel shows no type information (/sys/kernel/btf/vmlinux is missing or not readable)",
            "use a kernel built with CONFIG_DEBUG_INFO_BTF, and mount /sys"};
  }
  if (!said.verifiers_reason.empty()) {
    return {
        "the verifier of kernel " + release + " refuses the BPF program " + said.refused_program +
            "; the end of its log: " + said.verifiers_reason,
        "this is a bug of syscost: please report it with this message; --syscost_backend dispatch counts without BPF"};
  }
  const Confinement here = read_confinement();
  if (error == EPERM || error == EACCES) {
    if (std::optional<Failure> missing = missing_permission(here)) return *std::move(missing);
  }
  Failure failure = errno_failure(step, "for eBPF", error);
  if (failure.reason.ends_with('.')) failure.reason.pop_back();  // more follows
  if (error == EPERM || error == EACCES) {
    return {failure.reason + "; the capabilities are there, so a security module or a seccomp profile denies bpf(2)",
            remedy_of_denial(here)};
  }
  if (!said.last_line.empty()) failure.reason += " (" + said.last_line + ")";
  return failure;
}

}  // namespace syscost::ebpf
