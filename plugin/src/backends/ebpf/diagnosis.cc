// SPDX-License-Identifier: MIT
#include "backends/ebpf/diagnosis.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

namespace syscost::ebpf {
namespace {

// Never a test program's file: the program would get rights that its caller lacks, and lose TMPDIR and LD_LIBRARY_PATH.
constexpr const char* kAmbient =
    "start as root and run: setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps +bpf,+perfmon "
    "--ambient-caps +bpf,+perfmon COMMAND";

/// "CAP_BPF and CAP_PERFMON".
std::string spelled_out(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "CAP_" : " and CAP_").append(name);
  return text;
}

std::string this_container(Container container) {
  return container == Container::other ? "this container"
                                       : "this " + std::string(container_name(container)) + " container";
}

Failure meaningless_capabilities(const Confinement& here) {
  const std::string reason =
      "eBPF needs CAP_BPF and CAP_PERFMON outside of every user namespace; this process is inside one, as a rootless "
      "container engine makes it, where no capability counts";
  if (here.container == Container::podman)
    return {reason, "run it by a rootful engine: sudo podman run --cap-add BPF --cap-add PERFMON"};
  return {reason, "leave the user namespace: use a rootful container engine, or setcap on the host"};
}

/// The container has them, this process does not.
Failure not_passed_on(const Confinement& here, const std::string& missing) {
  const std::string reason = "eBPF needs CAP_BPF and CAP_PERFMON; " + this_container(here.container) +
                             " was granted them, but this process lacks " + missing;
  if (here.is_root) return {reason, "do not drop them on the way: setpriv, capsh or a service manager took them away"};
  if (here.no_new_privileges) {
    return {reason + ", as an ordinary user does",
            "no-new-privileges is set, so a file's capabilities would be ignored: " + std::string(kAmbient)};
  }
  return {reason + ", as an ordinary user does", kAmbient};
}

}  // namespace

std::optional<Failure> missing_permission(const Confinement& here) {
  const std::vector<std::string> missing = missing_for_bpf(here.effective);
  if (here.in_user_namespace) return meaningless_capabilities(here);
  if (missing.empty()) return std::nullopt;
  if (here.container == Container::none) {
    return Failure{"eBPF needs CAP_BPF and CAP_PERFMON; this process lacks " + spelled_out(missing),
                   "run as root, or " + std::string(kAmbient) + "; in a container add cap_add: [BPF, PERFMON]"};
  }
  const std::vector<std::string> not_granted = missing_for_bpf(here.bounding);
  if (not_granted.empty()) return not_passed_on(here, spelled_out(missing));
  std::string fix = capability_setting(here.container, not_granted);
  // Once they are granted, an ordinary user is told of the helper, too, where it would do.
  if (!here.is_root) {
    fix += "; and, for an ordinary user, ambient capabilities";
    if (here.no_new_privileges) fix += " (no-new-privileges rules out setcap)";
  }
  return Failure{"eBPF needs CAP_BPF and CAP_PERFMON; " + this_container(here.container) + " was not granted " +
                     spelled_out(not_granted),
                 fix};
}

bool gets_capabilities_of_files(const Confinement& here) {
  return missing_for_bpf(here.bounding).empty() && !here.no_new_privileges && !here.in_user_namespace;
}

std::string remedy_of_denial(const Confinement& here) {
  if (here.has_seccomp_filter && here.container != Container::none) {
    return "allow bpf in the container's seccomp profile, or run without one: " + no_seccomp_setting(here.container);
  }
  return "allow bpf in the container's seccomp profile, and look at the kernel's lockdown mode";
}

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
