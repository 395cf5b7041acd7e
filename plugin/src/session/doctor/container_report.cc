// SPDX-License-Identifier: MIT
#include "session/doctor/container_report.h"

#include <linux/capability.h>

namespace syscost::session {
namespace {

constexpr const char* kTracefs = "/sys/kernel/tracing";

/// "CAP_BPF granted, CAP_PERFMON not granted".
std::string granted(std::uint64_t bounding) {
  return std::string("CAP_BPF ") + (holds(bounding, CAP_BPF) ? "granted" : "not granted") + ", CAP_PERFMON " +
         (holds(bounding, CAP_PERFMON) ? "granted" : "not granted");
}

}  // namespace

std::string describe_container(const Confinement& here, bool has_tracefs) {
  if (here.container == Container::none) return {};
  std::string text = "  container of " + std::string(container_name(here.container)) + ": ";
  if (here.container == Container::other) text = "  container of an unknown engine: ";
  text += granted(here.bounding);
  text += here.has_seccomp_filter ? ", seccomp profile on" : ", no seccomp profile";
  if (here.no_new_privileges) text += ", no-new-privileges set";
  if (here.in_user_namespace) text += ", in a user namespace";
  text += "\n";
  if (!has_tracefs) {
    text +=
        "  container without tracefs: --syscost_profile bpftrace finds no tracepoints; "
        "before Linux 7.0 counting does not need it\n";
    text += "         fix: " + mount_setting(here.container, kTracefs) + "\n";
  }
  return text;
}

}  // namespace syscost::session
