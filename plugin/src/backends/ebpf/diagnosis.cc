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

struct Release {
  std::string text;
  int major = 0;
  int minor = 0;

  bool is_known() const { return major > 0; }
  bool is_at_least(int other_major, int other_minor) const {
    return std::pair(major, minor) >= std::pair(other_major, other_minor);
  }
};

Release release_of_kernel() {
  Release release;
  utsname name{};
  if (uname(&name) != 0) return release;
  release.text = name.release;
  if (std::sscanf(name.release, "%d.%d", &release.major, &release.minor) != 2) release.major = 0;
  return release;
}

}  // namespace

bool kernel_is_at_least(int major, int minor) {
  const Release release = release_of_kernel();
  return release.is_known() && release.is_at_least(major, minor);
}

Failure explain_failure(std::string_view step, int error, const LibbpfWords& said) {
  const Release release = release_of_kernel();
  if (release.is_known() && !release.is_at_least(5, 13)) {
    return {"kernel " + release.text + " is older than 5.13, the first with task storage for tracing programs",
            "use a newer kernel"};
  }
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return {"the kernel shows no type information (/sys/kernel/btf/vmlinux is missing or not readable)",
            "use a kernel built with CONFIG_DEBUG_INFO_BTF, and mount /sys"};
  }
  if (!said.verifiers_reason.empty()) {
    return {
        "the verifier of kernel " + release.text + " refuses the BPF program " + said.refused_program +
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
    return {
        failure.reason + "; this process has the capabilities, so a security module or a seccomp profile denies bpf(2)",
        remedy_of_denial(here)};
  }
  if (!said.last_line.empty()) failure.reason += " (" + said.last_line + ")";
  return failure;
}

}  // namespace syscost::ebpf
