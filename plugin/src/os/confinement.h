// SPDX-License-Identifier: MIT
//
// Confinement: the capabilities and syscalls that this process lacks, and the container engine that took them.
//
// Inside a container the same EPERM has other causes and remedies than outside: a line of compose.yaml grants a
// capability, not setcap, and no process inside can get a capability that the engine withholds from the container. This
// file reads the facts from /proc. The code that needs a permission writes the message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost {

/// The engine that runs the container. Each engine leaves traces inside; `other` is one without known traces.
enum class Container : std::uint8_t { none, docker, podman, kubernetes, other };

struct Confinement {
  Container container = Container::none;
  bool is_root = false;             ///< Effective user id 0.
  std::uint64_t effective = 0;      ///< Capabilities this process has, one bit each (linux/capability.h).
  std::uint64_t bounding = 0;       ///< Capabilities that it can ever get, even as root.
  bool in_user_namespace = false;   ///< In another than the initial one: bpf(2) ignores its capabilities.
  bool no_new_privileges = false;   ///< The kernel ignores capabilities of a program's file, and setuid.
  bool has_seccomp_filter = false;  ///< Some syscalls may be denied, with any capabilities.
};

/// The confinement of this process. Each path begins with `root`, so that a test can provide a /proc of its own. If a
/// file cannot be read, the process counts as unconfined in that respect.
Confinement read_confinement(const std::string& root = "");

/// True if `set` holds the capability, or CAP_SYS_ADMIN, which includes CAP_BPF and CAP_PERFMON.
bool holds(std::uint64_t set, int capability);

/// Which of CAP_BPF and CAP_PERFMON the set lacks, without "CAP_", as engines spell them.
std::vector<std::string> missing_for_bpf(std::uint64_t set);

/// True if the kernel's tracefs is mounted where tools look for it. Needs no permission for its files.
bool has_tracefs();

/// If valgrind interprets this program: why `feature` of the kernel is missing. Else empty.
std::optional<Failure> missing_under_valgrind(std::string_view feature);

/// "Docker", "Podman", "Kubernetes" or "unknown".
std::string_view container_name(Container container);

/// The setting that makes the engine grant capabilities (`names` without "CAP_", not empty): the line of compose.yaml
/// and the option of docker run, or their equal for Podman or Kubernetes.
std::string capability_setting(Container container, const std::vector<std::string>& names);

/// The setting that makes the engine run without its seccomp profile.
std::string no_seccomp_setting(Container container);

/// The setting that makes the engine show the folder `path` of the host, read-only.
std::string mount_setting(Container container, const std::string& path);

}  // namespace syscost
