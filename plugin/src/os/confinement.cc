// SPDX-License-Identifier: MIT
#include "os/confinement.h"

#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <utility>

#include "os/environment.h"
#include "os/files.h"

namespace syscost {
namespace {

constexpr std::uint64_t kAllUserIds = 4294967295;
/// include/linux/proc_ns.h: the numbers of the initial namespaces are the same on every kernel.
constexpr std::string_view kInitialUsers = "user:[4026531837]";

/// True if the path of a cgroup of this process contains one of `words`. A container with its own cgroup namespace, the
/// default since cgroup v2, sees only "/" here.
bool cgroup_mentions(const std::string& root, std::initializer_list<std::string_view> words) {
  std::istringstream file(read_small_file(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {
    for (std::string_view word : words) {
      if (line.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

/// True if the process is in all initial namespaces of the kernel. A container has at least one namespace of its own,
/// unless all of them are turned off; then the path of its cgroup is complete.
bool is_in_initial_namespaces(const std::string& root) {
  constexpr std::pair<const char*, const char*> kInitial[] = {{"cgroup", "cgroup:[4026531835]"},
                                                              {"ipc", "ipc:[4026531839]"},
                                                              {"pid", "pid:[4026531836]"},
                                                              {"uts", "uts:[4026531838]"}};
  return std::all_of(std::begin(kInitial), std::end(kInitial), [&root](const auto& initial) {
    return read_link(root + "/proc/self/ns/" + initial.first) == initial.second;
  });
}

Container find_container(const std::string& root) {
  // The file only shows that this file system once was a container's: a virtual machine may be made from an image.
  const bool is_machine = is_in_initial_namespaces(root);
  const auto has_trace = [&](const char* path) { return !is_machine && exists(root + path); };
  // Kubernetes first, because the engine below it leaves traces too. The variable exists even if no token is mounted.
  if (variable("KUBERNETES_SERVICE_HOST") != nullptr || has_trace("/run/secrets/kubernetes.io") ||
      cgroup_mentions(root, {"kubepods"})) {
    return Container::kubernetes;
  }
  if (has_trace("/run/.containerenv") || cgroup_mentions(root, {"libpod"})) return Container::podman;
  // The trailing "-" and "/": docker.service holds the engine, not a container.
  if (has_trace("/.dockerenv") || cgroup_mentions(root, {"/docker/", "/docker-"})) return Container::docker;
  if (has_trace("/run/systemd/container") || cgroup_mentions(root, {"containerd", "/lxc"})) return Container::other;
  return Container::none;
}

bool is_in_user_namespace(const std::string& root) {
  // A process that made the namespace may not have written its map, or have written that of the initial one.
  if (const std::string link = read_link(root + "/proc/self/ns/user"); !link.empty()) return link != kInitialUsers;
  std::istringstream map(read_small_file(root + "/proc/self/uid_map"));
  std::uint64_t inside = 0, outside = 0, count = 0;
  return map >> inside >> outside >> count && !(inside == 0 && outside == 0 && count == kAllUserIds);
}

}  // namespace

Confinement read_confinement(const std::string& root) {
  Confinement found;
  found.container = find_container(root);
  found.is_root = geteuid() == 0;
  found.in_user_namespace = is_in_user_namespace(root);
  std::istringstream status(read_small_file(root + "/proc/self/status"));
  for (std::string line; std::getline(status, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    const char* value = line.c_str() + colon + 1;
    if (name == "CapEff") found.effective = std::strtoull(value, nullptr, 16);
    if (name == "CapBnd") found.bounding = std::strtoull(value, nullptr, 16);
    if (name == "NoNewPrivs") found.no_new_privileges = std::atoi(value) != 0;
    if (name == "Seccomp") found.has_seccomp_filter = std::atoi(value) == 2;
  }
  return found;
}

bool holds(std::uint64_t set, int capability) {
  return (set >> capability & 1) != 0 || (set >> CAP_SYS_ADMIN & 1) != 0;
}

std::vector<std::string> missing_for_bpf(std::uint64_t set) {
  std::vector<std::string> names;
  if (!holds(set, CAP_BPF)) names.emplace_back("BPF");
  if (!holds(set, CAP_PERFMON)) names.emplace_back("PERFMON");
  return names;
}

bool has_tracefs() {
  for (const char* path : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    struct statfs found {};
    if (statfs(path, &found) == 0 && found.f_type == TRACEFS_MAGIC) return true;
  }
  return false;
}

std::optional<Failure> missing_under_valgrind(std::string_view feature) {
  // valgrind preloads its core into the program, and the program can see the variable.
  const char* preloaded = variable("LD_PRELOAD");
  if (preloaded == nullptr || std::strstr(preloaded, "/vgpreload_") == nullptr) return std::nullopt;
  return Failure{"valgrind interprets this program, and has no " + std::string(feature),
                 "run it without valgrind; or, as root, --syscost_backend ebpf, which sees valgrind's calls too"};
}

std::string_view container_name(Container container) {
  switch (container) {
    case Container::docker:
      return "Docker";
    case Container::podman:
      return "Podman";
    case Container::kubernetes:
      return "Kubernetes";
    case Container::none:
    case Container::other:
      break;
  }
  return "unknown";
}

std::string capability_setting(Container container, const std::vector<std::string>& names) {
  std::string list, options;
  for (const std::string& name : names) {
    list.append(list.empty() ? "" : ", ").append(name);
    options.append(" --cap-add ").append(name);
  }
  switch (container) {
    case Container::kubernetes:
      return "in the manifest securityContext: {capabilities: {add: [" + list + "]}}";
    case Container::podman:
      return "sudo podman run" + options;
    default:
      return "in compose.yaml cap_add: [" + list + "], or docker run" + options;
  }
}

std::string no_seccomp_setting(Container container) {
  switch (container) {
    case Container::kubernetes:
      return "in the manifest securityContext: {seccompProfile: {type: Unconfined}}";
    case Container::podman:
      return "sudo podman run --security-opt seccomp=unconfined";
    default:
      return "in compose.yaml security_opt: [seccomp=unconfined], or docker run --security-opt seccomp=unconfined";
  }
}

std::string mount_setting(Container container, const std::string& path) {
  const std::string mount = path + ":" + path + ":ro";
  switch (container) {
    case Container::kubernetes:
      return "in the manifest volumes: [{name: shown, hostPath: {path: " + path +
             "}}] and volumeMounts: [{name: shown, mountPath: " + path + ", readOnly: true}]";
    case Container::podman:
      return "sudo podman run -v " + mount;
    default:
      return "in compose.yaml volumes: [\"" + mount + "\"], or docker run -v " + mount;
  }
}

}  // namespace syscost
