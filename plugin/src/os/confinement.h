// SPDX-License-Identifier: MIT
//
// Confinement: what holds this process back, and which container engine it was that did.
//
// Inside a container the same EPERM has other causes and other remedies than outside: a capability is granted by a line
// of compose.yaml, not by setcap, and no process inside can get one that the engine kept from the whole container.
// This reads what /proc says of it. The code that needs the permission writes the words for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/result.h"

namespace syscost {

/// The engine that runs the container. Each engine leaves traces inside; `other` is one without known traces.
enum class Container : std::uint8_t { none, docker, podman, kubernetes, other };

struct Confinement {
  Container container = Container::none;
  bool is_root = false;             ///< Effective user id 0.
  std::uint64_t effective = 0;      ///< Capabilities this process has, one bit each (linux/capability.h).
  std::uint64_t bounding = 0;       ///< Capabilities that it, root included, can ever get.
  bool in_user_namespace = false;   ///< Not the initial one: capabilities then mean nothing to bpf(2).
  bool no_new_privileges = false;   ///< Capabilities of a program's file, and setuid, are ignored.
  bool has_seccomp_filter = false;  ///< Some syscalls may be denied whatever the capabilities.
};

/// The confinement of this process. Every path that is read begins with `root`, so that a test can make up a /proc. If
/// a file cannot be read, the process counts as unconfined in that respect.
Confinement read_confinement(const std::string& root = "");

/// True when `set` holds the capability, or CAP_SYS_ADMIN, which stands for CAP_BPF and CAP_PERFMON.
bool holds(std::uint64_t set, int capability);

/// Which of CAP_BPF and CAP_PERFMON the set lacks, without "CAP_", as engines spell them.
std::vector<std::string> missing_for_bpf(std::uint64_t set);

/// True when the kernel's tracefs is mounted where bpftrace looks for it. Needs no permission to look inside.
bool has_tracefs();

/// Why `feature` of the kernel is missing if valgrind interprets this program; empty if it does not.
std::optional<Failure> lacking_under_valgrind(std::string_view feature);

/// "Docker", "Podman", "Kubernetes" or "unknown".
std::string_view container_name(Container container);

/// The setting that makes the engine grant capabilities (`names` without "CAP_", not empty): the line of compose.yaml
/// and the option of docker run, or their equal for Podman or Kubernetes.
std::string line_that_adds(Container container, const std::vector<std::string>& names);

/// The setting that makes the engine run without its seccomp profile.
std::string line_without_seccomp(Container container);

/// The setting that makes the engine show the folder `path` of the host, read-only.
std::string line_that_mounts(Container container, const std::string& path);

}  // namespace syscost
